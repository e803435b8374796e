// SPDX-License-Identifier: Apache-2.0
// Linear attention by the gated delta rule: each head of a text carries a matrix from row to row.
#pragma once

#include <cstddef>
#include <cstdint>

#include "etch/alignment.hpp"
#include "etch/ops/op.hpp"
#include "etch/ops/rows.hpp"
#include "etch/ops/texts.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

struct DeltaWeights {
    const float* rates;  // [heads], 0 to 2^50: by which states decay, times log2(e)
};

// `heads` of values, each `value_width` wide, on `key_heads` of queries and keys, `key_width` wide: head h has those of
// h * key_heads / heads.
struct DeltaShape {
    std::uint32_t heads;
    std::uint32_t key_heads;
    std::uint32_t key_width;
    std::uint32_t value_width;

    constexpr std::uint32_t keys() const noexcept { return key_heads * key_width; }
    constexpr std::uint32_t state() const noexcept { return key_width * value_width; }  // floats of a head's
    constexpr std::uint64_t cost(std::uint32_t rows) const noexcept {
        return std::uint64_t{4} * kCostOfProduct * rows * heads * state();
    }
};

// Bytes of a worker's scratch.
constexpr std::size_t delta_scratch_bytes(const DeltaShape& shape) noexcept {
    return aligned_bytes((std::size_t{2} * shape.key_width + std::size_t{2} * shape.value_width) * sizeof(float));
}

// Of the rows of a block, behind those of the blocks before it. A row of the input has queries, keys and values, all
// heads' one behind the other. With t(x) = +0.0f where |x| < 2^-40, else x, and sums in order, of a head, its state S
// [key][value], +0.0f before a text's first row, a its decay and b its beta:
//
//   x = t(silu(x)), of all three
//   q, k = t(x * (1.0f / sqrt(sum(x * x) + 1e-6f)))
//   q = t(q * (1.0f / sqrt(key_width)))
//   S = t(S * exp2(-(rate * softplus(a))))
//   d = t((v - sum(k * S)) * b)
//   S = t(S + (k * d))
//   out = sum(q * S)
//
// Texts lie one behind the other, so that one state does for all: that of the text whose rows the block before has
// ended with. Units: heads.
struct DeltaRule {
    const DeltaWeights& weights;
    DeltaShape shape;
    RowBlock block;
    const Texts& texts;
    F32Rows input;  // [block.count][2 * keys + heads * value_width]
    F32Rows decay;  // [block.count][heads]
    F32Rows beta;   // [block.count][heads]
    F32Rows state;  // [heads][key_width][value_width], in one row
    F32Rows out;    // [block.count][heads * value_width]

    std::uint32_t units() const noexcept { return shape.heads; }
    std::uint64_t cost() const noexcept { return shape.cost(block.count); }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

// The same of texts that grow: their new rows alone, in order, at a position behind those of earlier passes. The state
// of a text is that at place / room. Units: heads of texts.
struct DeltaStep {
    const DeltaWeights& weights;
    DeltaShape shape;
    const Texts& texts;
    F32Rows input;   // [rows][2 * keys + heads * value_width]
    F32Rows decay;   // [rows][heads]
    F32Rows beta;    // [rows][heads]
    F32Rows states;  // [texts][heads][key_width][value_width], a text's in one row
    F32Rows out;     // [rows][heads * value_width]
    std::uint32_t room = 1;

    std::uint32_t units() const noexcept { return texts.count * shape.heads; }
    std::uint64_t cost() const noexcept { return shape.cost(texts.rows()); }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
