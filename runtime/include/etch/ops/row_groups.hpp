// SPDX-License-Identifier: Apache-2.0
// Encoders that work on a row for every `rate` tokens of a text, and on its tokens before and behind that (CANINE,
// Clark et al. 2021, arXiv:2103.06874, section 3.2).
//
// A text of n tokens has max(n / rate, 1) rows of groups: the first stands for its first token alone, row k > 0 for the
// k-th `rate` tokens from the beginning, those before it once more. What is left of the tokens has no row of its own.
// All ops here copy, in blocks of the rows that they write; what they read has all its rows.
#pragma once

#include <cstdint>

#include "etch/ops/op.hpp"
#include "etch/ops/rows.hpp"
#include "etch/ops/texts.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// Rows of groups of a text of so many tokens, at least 1.
constexpr std::uint32_t grouped_count(std::uint32_t rate, std::uint32_t tokens) noexcept {
    return tokens < 2 * rate ? 1 : tokens / rate;
}

// Rows of groups that a batch of at most `max_tokens` tokens can have: each of its texts has one at least.
constexpr std::uint32_t most_groups(std::uint32_t rate, std::uint32_t max_tokens) noexcept {
    const std::uint32_t most = max_tokens / rate + most_texts(max_tokens);
    return most < max_tokens ? most : max_tokens;
}

// The texts with their rows of groups, one text's behind the other's, at their old places in caches: to[count].
Texts grouped_texts(std::uint32_t rate, const Texts& texts, TextRows* to) noexcept;

// Row k > 0 of a text becomes its rows rate * (k - 1) to rate * k - 1 of `input`, side by side; the first becomes
// zeros. Units: rows of the block.
struct GroupRows {
    std::uint32_t rate;
    RowBlock block;  // of groups
    const Texts& texts;
    const Texts& grouped;
    F32Rows input;  // [tokens][width], all of them
    F32Rows out;    // [block.count][rate * width]

    std::uint32_t units() const noexcept { return block.count; }
    std::uint64_t cost() const noexcept { return kCostOfProduct * block.count * out.width; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

// The first row of each text becomes that of its first token. Units: rows of the block.
struct FirstRow {
    RowBlock block;  // of groups
    const Texts& texts;
    const Texts& grouped;
    F32Rows input;  // [tokens][width], all of them
    F32Rows out;    // [block.count][width]

    std::uint32_t units() const noexcept { return block.count; }
    std::uint64_t cost() const noexcept { return kCostOfProduct * block.count; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

// Row t of a text becomes, for each of `taps` tokens from t - before on, the token's row of `input` and the row of its
// group, side by side: that of group t / rate + 1, or of the last one. Where the text has no such token, zeros. Units:
// rows of the block.
struct SpreadRows {
    std::uint32_t rate;
    std::uint32_t taps;
    std::uint32_t before;  // below `taps`
    RowBlock block;        // of tokens
    const Texts& texts;
    const Texts& grouped;
    F32Rows input;   // [tokens][width], all of them
    F32Rows groups;  // [groups][width], all of them
    F32Rows out;     // [block.count][taps * (input.width + groups.width)]

    std::uint32_t units() const noexcept { return block.count; }
    std::uint64_t cost() const noexcept { return kCostOfProduct * block.count * out.width; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

// Each row becomes that of its text's first token of this id; where the text has none, its first row. Units: rows of
// the block.
struct RowOfToken {
    std::int32_t id;
    RowBlock block;  // of tokens
    const Texts& texts;
    const std::int32_t* ids;  // [tokens], of all texts
    F32Rows input;            // [tokens][width], all of them
    F32Rows out;              // [block.count][width], none of the input

    std::uint32_t units() const noexcept { return block.count; }
    std::uint64_t cost() const noexcept { return kCostOfProduct * block.count * out.width; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
