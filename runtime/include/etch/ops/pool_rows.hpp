// SPDX-License-Identifier: Apache-2.0
// Encoders whose rows become fewer on their way (Funnel Transformer, Dai et al. 2020, arXiv:2006.03236): two rows of a
// text become one, and in the end one row stands for several tokens again.
//
// At level 0 a text has a row per token, at level l + 1 one for every two rows of level l. With `apart` the first row
// stays by itself: row i > 0 is made of rows 2 i - 1 and 2 i, and stands where the first of them does. Without it, row
// i is made of rows 2 i and 2 i + 1. Of a text that has no two rows to pool (beside the first one) all stay.
#pragma once

#include <cstdint>

#include "etch/ops/op.hpp"
#include "etch/ops/rows.hpp"
#include "etch/ops/texts.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

enum class PooledBy : std::uint8_t { mean, maximum };

struct RowPooling {
    PooledBy by = PooledBy::mean;
    bool apart = false;
    bool cut = false;  // with `apart`: the last row of a text is left out of the pairs
};

// Rows that are left of `count`, at least 1.
constexpr std::uint32_t pooled_count(const RowPooling& pooling, std::uint32_t count) noexcept {
    if (count <= (pooling.apart ? 2u : 1u)) return count;
    return (count + (pooling.apart && !pooling.cut ? 1u : 0u) + 1) / 2;
}

// The first of the rows that row `row` of the next level is made of.
constexpr std::uint32_t first_pooled(const RowPooling& pooling, std::uint32_t row) noexcept {
    return pooling.apart && row > 0 ? 2 * row - 1 : 2 * row;
}

// The token that row `row` of a level stands at.
constexpr std::uint32_t token_of(const RowPooling& pooling, std::uint32_t level, std::uint32_t row) noexcept {
    return pooling.apart && row > 0 ? ((row - 1) << level) + 1 : row << level;
}

// The texts with the rows that pooling leaves, one text's behind the other's, at their old places in caches: to[count].
Texts pooled_texts(const RowPooling& pooling, const Texts& texts, TextRows* to) noexcept;

// The pooled texts once more, for queries of theirs that attend to keys of the rows before: to[count].
Texts on_keys_of(const Texts& texts, const Texts& pooled, TextRows* to) noexcept;

// In place: row i of `pooled` becomes (a + b) * 0.5f of its two rows a, b of `texts`, or the larger value of each two;
// of one row alone, that row. The next level's rows lie at the begin of `rows`. Units: panels of columns.
struct PoolRows {
    RowPooling pooling;
    const Texts& texts;
    const Texts& pooled;
    F32Rows rows;

    std::uint32_t units() const noexcept { return (rows.width + kPanelWidth - 1) / kPanelWidth; }
    std::uint64_t cost() const noexcept { return kCostOfValue * texts.rows() * rows.width; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

// out[t] = input[row of the level that stands for t] + out[t]; out[t] stays where the level was cut before t. Each row
// of the level stands for 2^level tokens, the first one `apart` for itself alone. Units: rows of tokens.
struct Upsample {
    RowPooling pooling;
    std::uint32_t level;
    const Texts& texts;   // of tokens
    const Texts& pooled;  // of the level
    F32Rows input;
    F32Rows out;

    std::uint32_t units() const noexcept { return texts.rows(); }
    std::uint64_t cost() const noexcept { return kCostOfValue * texts.rows() * out.width; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

// out = input. Units: rows.
struct CopyRows {
    std::uint32_t count;
    F32Rows input;
    F32Rows out;

    std::uint32_t units() const noexcept { return count; }
    std::uint64_t cost() const noexcept { return kCostOfProduct * count * input.width; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
