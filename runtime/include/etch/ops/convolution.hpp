// SPDX-License-Identifier: Apache-2.0
// A causal depthwise convolution: each channel of a row from the same one of itself and of the rows before it in its
// text.
#pragma once

#include <cstdint>

#include "etch/ops/cache_copies.hpp"
#include "etch/ops/op.hpp"
#include "etch/ops/rows.hpp"
#include "etch/ops/texts.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

struct ConvolutionWeights {
    const float* taps;    // [count][width], that of the earliest row first, that of the row itself last
    const float* bias;    // [width]; null: there is none
    std::uint32_t count;  // at least 2
};

// out[t] = ((0.0f + taps[0] * x[t - count + 1]) + ...) + taps[count - 1] * x[t], then + bias. Rows before the text's
// first one are left out, which adds nothing. Of a block, whose rows before are there. Units: rows.
struct CausalConvolution {
    const ConvolutionWeights& weights;
    RowBlock block;
    const Texts& texts;
    F32Rows input;  // of all rows
    F32Rows out;    // [block.count][width], none of the input

    std::uint32_t units() const noexcept { return block.count; }
    std::uint64_t cost() const noexcept { return kCostOfProduct * block.count * weights.count * out.width; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

// The same of texts that grow: their new rows alone, at a position behind those of earlier passes, of which `states`
// has the last count - 1, that of position p at p % (count - 1). The new ones take their place. The state of a text is
// that at place / room. Units: texts.
struct ConvolutionStep {
    const ConvolutionWeights& weights;
    const Texts& texts;
    F32Rows input;   // [rows][width]
    F32Rows states;  // [texts][count - 1][width], a text's in one row
    F32Rows out;     // [rows][width], none of the input
    std::uint32_t room = 1;

    std::uint32_t units() const noexcept { return texts.count; }
    std::uint64_t cost() const noexcept { return kCostOfProduct * texts.rows() * weights.count * out.width; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

// What beams need that go on with another one's text: states are copied whole, of several layers, one behind the other.
// Units: layers.
struct CopyStates {
    std::uint32_t room;
    std::uint32_t beams;  // states of a layer
    std::uint32_t layers;
    CacheCopies copies;
    F32Rows states;

    std::uint32_t units() const noexcept { return layers; }
    std::uint64_t cost() const noexcept { return 1 + std::uint64_t{copies.count} * layers * states.width; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
