// SPDX-License-Identifier: Apache-2.0
// Which rows belong to which text. A batch is the rows of several texts one after the other; only embedding, rotation,
// attention, convolutions and pooling see where one ends. A single text is a batch of one.
#pragma once

#include <cstdint>

#include "etch/ops/rows.hpp"
#include "etch/packing.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// Rows [first, first + count) of the batch, whose first one has the position `position` in its text: 0 but where the
// rows before it were computed by an earlier pass and only their keys and values are left. Its queries attend to `keys`
// rows, which the caches of keys and values hold at [place, place + keys): places are multiples of kPanelWidth, so that
// the packed matrices of every text begin on their own.
struct TextRows {
    std::uint32_t first;
    std::uint32_t count;  // at least 1
    std::uint32_t position;
    std::uint32_t keys;  // at least 1
    std::uint32_t place;
};

// A text of which every row is computed and attends to every row.
constexpr TextRows whole_text(std::uint32_t count, std::uint32_t first = 0, std::uint32_t place = 0) noexcept {
    return {first, count, 0, count, place};
}

// Of its rows those up to the first token of this id; all where it has none. `ids` are those of the batch.
constexpr std::uint32_t rows_up_to(std::int32_t id, const TextRows& text, const std::int32_t* ids) noexcept {
    std::uint32_t count = 1;
    while (count < text.count && ids[text.first + count - 1] != id)
        ++count;
    return count;
}

// Texts that a batch of at most `max_tokens` tokens can hold.
constexpr std::uint32_t most_texts(std::uint32_t max_tokens) noexcept {
    return (max_tokens + kPanelWidth - 1) / kPanelWidth;
}

// At least one text. A view.
struct Texts {
    const TextRows* texts;  // [count]
    std::uint32_t count;
    bool first_rows_only = false;  // row t is the first row of text t, and there are no others

    constexpr std::uint32_t rows() const noexcept {
        return first_rows_only ? count : texts[count - 1].first + texts[count - 1].count;
    }
    constexpr RowBlock rows_of(std::uint32_t text) const noexcept {
        if (first_rows_only) return {text, 1};
        return {texts[text].first, texts[text].count};
    }
    constexpr Texts first_rows() const noexcept { return {texts, count, true}; }
};

// The rows that a block has of one text.
struct TextPart {
    const TextRows& text;
    std::uint32_t row;    // of the block, where they begin
    std::uint32_t token;  // of the text's rows, where they begin
    std::uint32_t count;

    // Of the first one, in the text.
    constexpr std::uint32_t position() const noexcept { return text.position + token; }
};

// Cuts a block of rows where texts end: for (const TextPart part : TextParts(texts, block)).
class TextParts {
  public:
    constexpr TextParts(const Texts& texts, RowBlock block) noexcept : texts_(texts), block_(block) {}

    struct Iterator {
        const Texts& texts;
        RowBlock block;
        std::uint32_t text;

        constexpr TextPart operator*() const noexcept {
            const RowBlock rows = texts.rows_of(text);
            const std::uint32_t begin = rows.first > block.first ? rows.first : block.first;
            const std::uint32_t rows_end = rows.first + rows.count;
            const std::uint32_t block_end = block.first + block.count;
            const std::uint32_t end = rows_end < block_end ? rows_end : block_end;
            return {texts.texts[text], begin - block.first, begin - rows.first, end - begin};
        }
        constexpr Iterator& operator++() noexcept {
            ++text;
            return *this;
        }
        constexpr bool operator!=(const Iterator& other) const noexcept { return text != other.text; }
    };
    constexpr Iterator begin() const noexcept { return {texts_, block_, text_of(block_.first)}; }
    constexpr Iterator end() const noexcept {
        return {texts_, block_,
                block_.count == 0 ? text_of(block_.first) : text_of(block_.first + block_.count - 1) + 1};
    }

  private:
    constexpr std::uint32_t text_of(std::uint32_t row) const noexcept {
        std::uint32_t text = 0;
        while (texts_.rows_of(text).first + texts_.rows_of(text).count <= row)
            ++text;
        return text;
    }

    const Texts& texts_;
    RowBlock block_;
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
