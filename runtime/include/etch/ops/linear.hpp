// SPDX-License-Identifier: Apache-2.0
// y = activation(x W^T + b) + residual, for rows of tokens. Units: panels of kPanelWidth outputs.
#pragma once

#include <cstdint>

#include "etch/ops/activation.hpp"
#include "etch/ops/op.hpp"
#include "etch/ops/rows.hpp"
#include "etch/packing.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// A weight table of `outputs` x `inputs` in the model's packing, per-channel scales, bias. With factors the weights are
// of 4 bits (packing.hpp).
struct S8Weights {
    const std::int8_t* weights;
    const float* scales;  // [outputs]
    const float* bias;    // [outputs]; null: none, +0.0f is added
    std::uint32_t outputs;
    std::uint32_t inputs;
    const std::uint8_t* factors = nullptr;
};

struct F32Weights {
    const float* weights;
    const float* bias;  // as above
    std::uint32_t outputs;
    std::uint32_t inputs;
};

// Those of the outputs [first, first + count) alone; `first` is a multiple of kPanelWidth.
constexpr S8Weights outputs_of(const S8Weights& all, Packing packing, std::uint32_t first,
                               std::uint32_t count) noexcept {
    const bool has_4_bits = all.factors != nullptr;
    return {all.weights + (has_4_bits ? packed_s4_bytes(packing, first, all.inputs)
                                      : packed_s8_bytes(packing, first, all.inputs)),
            all.scales + first,
            all.bias == nullptr ? nullptr : all.bias + first,
            count,
            all.inputs,
            has_4_bits ? all.factors + packed_s4_factors(packing, first, all.inputs) : nullptr};
}
constexpr F32Weights outputs_of(const F32Weights& all, Packing packing, std::uint32_t first,
                                std::uint32_t count) noexcept {
    return {all.weights + packed_f32_elements(packing, first, all.inputs),
            all.bias == nullptr ? nullptr : all.bias + first, count, all.inputs};
}

// A null residual.data means none. residual may be the same rows as out; both have the width weights.outputs.
struct LinearS8 {
    const S8Weights& weights;
    std::uint32_t count;  // rows
    QuantizedRows input;  // [count][inputs]
    F32Rows out;          // [count][outputs]
    Activation activation = Activation::none;
    F32Rows residual = {nullptr, 0};

    std::uint32_t units() const noexcept { return (weights.outputs + kPanelWidth - 1) / kPanelWidth; }
    std::uint64_t cost() const noexcept { return std::uint64_t{count} * weights.inputs * weights.outputs; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

struct LinearF32 {
    const F32Weights& weights;
    std::uint32_t count;
    F32Rows input;  // [count][inputs]; does not alias out
    F32Rows out;    // [count][outputs]
    Activation activation = Activation::none;
    F32Rows residual = {nullptr, 0};

    std::uint32_t units() const noexcept { return (weights.outputs + kPanelWidth - 1) / kPanelWidth; }
    std::uint64_t cost() const noexcept { return kCostOfF32Product * count * weights.inputs * weights.outputs; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
