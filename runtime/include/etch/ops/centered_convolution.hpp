// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions that take from rows before a row and behind it in its text, with the same taps for all rows or
// with taps that each row has of its own.
#pragma once

#include <cstdint>

#include "etch/ops/convolution.hpp"
#include "etch/ops/op.hpp"
#include "etch/ops/rows.hpp"
#include "etch/ops/texts.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// Rows of a block as they are to where those of all blocks are kept, a text's from its place on: later ops may then
// write other ones where these were. Units: rows.
struct PackRows {
    RowBlock block;
    const Texts& texts;
    F32Rows input;  // [block.count][width]
    F32Rows out;    // of all texts

    std::uint32_t units() const noexcept { return block.count; }
    std::uint64_t cost() const noexcept { return kCostOfProduct * block.count * input.width; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

// out[t] = ((0.0f + taps[0] * x[t - count / 2]) + ...) + taps[count - 1] * x[t + count / 2], then + bias; count is odd.
// Rows outside of the text are left out, which adds nothing. Units: rows.
struct CenteredConvolution {
    const ConvolutionWeights& weights;
    RowBlock block;
    const Texts& texts;
    F32Rows input;  // of all texts, packed
    F32Rows out;    // [block.count][width]

    std::uint32_t units() const noexcept { return block.count; }
    std::uint64_t cost() const noexcept { return kCostOfProduct * block.count * weights.count * out.width; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

// The same with the taps of the row: of each of `heads` heads as many, one head's behind the other's, each for all
// channels of its head; there is no bias. Units: rows.
struct DynamicConvolution {
    std::uint32_t heads;
    RowBlock block;
    const Texts& texts;
    F32Rows taps;   // [block.count][heads * count], count odd
    F32Rows input;  // of all texts, packed
    F32Rows out;    // [block.count][width]

    std::uint32_t units() const noexcept { return block.count; }
    std::uint64_t cost() const noexcept { return kCostOfProduct * block.count * (taps.width / heads) * out.width; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
