// SPDX-License-Identifier: Apache-2.0
// State spaces whose states decay by head, as of Mamba-2: each head of a text carries a matrix from row to row.
#pragma once

#include <cstddef>
#include <cstdint>

#include "etch/alignment.hpp"
#include "etch/ops/op.hpp"
#include "etch/ops/rows.hpp"
#include "etch/ops/texts.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

struct StateSpaceWeights {
    const float* rates;  // [heads], 0 to 2^50: by which states decay, times log2(e)
    const float* skips;  // [heads]: how much a row's own values count beside the state
};

// `heads` of values, each `value_width` wide, on `groups` of inputs and outputs of states, `state_width` wide: head h
// has those of group h * groups / heads.
struct StateSpaceShape {
    std::uint32_t heads;
    std::uint32_t groups;
    std::uint32_t state_width;
    std::uint32_t value_width;
    float least_time;  // 0 <= least_time <= most_time: what time steps are kept within
    float most_time;

    constexpr std::uint32_t values() const noexcept { return heads * value_width; }
    constexpr std::uint32_t state() const noexcept { return state_width * value_width; }  // floats of a head's
    constexpr std::uint64_t cost(std::uint32_t rows) const noexcept {
        return std::uint64_t{3} * kCostOfProduct * rows * heads * state();
    }
};

// Bytes of a worker's scratch.
constexpr std::size_t state_space_scratch_bytes(const StateSpaceShape& shape) noexcept {
    return aligned_bytes((std::size_t{2} * shape.state_width + std::size_t{2} * shape.value_width) * sizeof(float));
}

// Of the rows of a block, behind those of the blocks before it. A row of the input has the values x of all heads, then
// B of all groups, then C. With t(x) = +0.0f where |x| < 2^-40, else x, and sums in order, of a head, its state S
// [state][value], +0.0f before a text's first row, a its time:
//
//   x, B, C = t(silu(of the input))
//   d = min(max(softplus(a), least_time), most_time)
//   u = t(x * d)
//   S = t((S * exp2(-(rate * d))) + (B * u))
//   out = sum(C * S) + (skip * x), kept within -2^24 and 2^24, for a product of three inputs bounds nothing else
//
// Texts lie one behind the other, so that one state does for all: that of the text whose rows the block before has
// ended with. Units: heads.
struct StateSpace {
    const StateSpaceWeights& weights;
    StateSpaceShape shape;
    RowBlock block;
    const Texts& texts;
    F32Rows input;  // [block.count][heads * value_width + 2 * groups * state_width]
    F32Rows time;   // [block.count][heads]
    F32Rows state;  // [heads][state_width][value_width], in one row
    F32Rows out;    // [block.count][heads * value_width]

    std::uint32_t units() const noexcept { return shape.heads; }
    std::uint64_t cost() const noexcept { return shape.cost(block.count); }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

// The same of texts that grow: their new rows alone, in order, at a position behind those of earlier passes. The state
// of a text is that at place / room. Units: heads of texts.
struct StateSpaceStep {
    const StateSpaceWeights& weights;
    StateSpaceShape shape;
    const Texts& texts;
    F32Rows input;   // [rows][heads * value_width + 2 * groups * state_width]
    F32Rows time;    // [rows][heads]
    F32Rows states;  // [texts][heads][state_width][value_width], a text's in one row
    F32Rows out;     // [rows][heads * value_width]
    std::uint32_t room = 1;

    std::uint32_t units() const noexcept { return texts.count * shape.heads; }
    std::uint64_t cost() const noexcept { return shape.cost(texts.rows()); }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
