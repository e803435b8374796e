// SPDX-License-Identifier: Apache-2.0
// Attention within a window beside global rows, which all of a text sees (Longformer, Beltagy et al. 2020,
// arXiv:2004.05150). They see all of it, too, by another attention, which is run for them alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include "etch/ops/attention.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// Which rows of a text are global: so many first ones; or where its ids say so, those before its first separator, of
// which the very first is one in any case, or those behind a second separator that follows it, of which the last is
// one.
struct GlobalPart {
    std::uint32_t most;
    const std::int32_t* ids = nullptr;  // of the batch; null: `most` rows of every text
    std::int32_t separator = 0;         // not looked for in a text's first row
    bool behind = false;

    constexpr RowBlock of(const TextRows& text) const noexcept {
        if (ids == nullptr) return {0, most < text.count ? most : text.count};
        std::uint32_t end = 1;
        while (end < text.count && ids[text.first + end] != separator)
            ++end;
        if (!behind) return {0, end};
        const std::uint32_t first = end + 2 < text.count ? end + 2 : text.count - 1;
        return {first, text.count - first};
    }
};

// As BiasedAttention, but that each query also sees the global keys of its text. The sum of values is that of these
// keys, plus that of the others which the query sees; s8 probabilities are quantized in either by themselves.
template <class Cache>
struct GlobalAttention {
    Attention<Cache> attention;
    ScoreBias bias;
    GlobalPart global;

    std::uint32_t units() const noexcept { return attention.units(); }
    std::uint64_t cost() const noexcept { return attention.cost(); }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

using GlobalAttentionS8 = GlobalAttention<S8HeadCache>;
using GlobalAttentionF32 = GlobalAttention<F32HeadCache>;
// Specialized: bytes and floats go different ways.
template <>
void GlobalAttentionS8::run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
template <>
void GlobalAttentionF32::run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;

// The global rows of a block, as a block for each text that has any there: for (const RowBlock rows : GlobalRows(texts,
// block, part)).
class GlobalRows {
  public:
    constexpr GlobalRows(const Texts& texts, RowBlock block, const GlobalPart& global) noexcept
        : parts_(texts, block), first_row_(block.first), global_(global) {}

    struct Iterator {
        TextParts::Iterator part;
        TextParts::Iterator end;
        std::uint32_t first_row;
        const GlobalPart& global;

        constexpr RowBlock operator*() const noexcept {
            const TextPart of = *part;
            const RowBlock rows = global.of(of.text);
            const std::uint32_t begin = rows.first > of.token ? rows.first : of.token;
            const std::uint32_t rows_end = rows.first + rows.count;
            const std::uint32_t part_end = of.token + of.count;
            const std::uint32_t last = rows_end < part_end ? rows_end : part_end;
            return {first_row + of.row + (begin - of.token), begin < last ? last - begin : 0};
        }
        constexpr Iterator& operator++() noexcept {
            ++part;
            return to_next();
        }
        constexpr bool operator!=(const Iterator& other) const noexcept { return part != other.part; }
        // Past the texts that have none in the block.
        constexpr Iterator& to_next() noexcept {
            while (part != end && (**this).count == 0)
                ++part;
            return *this;
        }
    };
    constexpr Iterator begin() const noexcept {
        return Iterator{parts_.begin(), parts_.end(), first_row_, global_}.to_next();
    }
    constexpr Iterator end() const noexcept { return {parts_.end(), parts_.end(), first_row_, global_}; }
    constexpr std::uint32_t texts() const noexcept {
        std::uint32_t count = 0;
        for (Iterator each = begin(); each != end(); ++each)
            ++count;
        return count;
    }

  private:
    TextParts parts_;
    std::uint32_t first_row_;
    GlobalPart global_;
};

// Scratch beside that of attention: a tile's scores with at most so many global keys, and the sum of each of its rows.
// codegen/memory/plan.py computes the same numbers.
constexpr std::size_t global_scratch_bytes(const HeadShape& s, std::uint32_t most) noexcept {
    return s.tile_rows * round_up(most, kPanelWidth) * sizeof(float) + aligned_bytes(s.tile_rows * sizeof(float));
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
