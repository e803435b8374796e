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

struct LinearS8;
struct LinearF32;

// A weight table of `outputs` x `inputs` in the model's packing, per-channel scales, bias. With factors the weights are
// of 4 bits (packing.hpp).
struct S8Weights {
    using Linear = LinearS8;
    using Input = QuantizedRows;
    static constexpr std::uint64_t kCostOfElement = 1;  // of a product with one

    const std::int8_t* weights;
    const float* scales;  // [outputs]
    const float* bias;    // [outputs]; null: none, +0.0f is added
    std::uint32_t outputs;
    std::uint32_t inputs;
    const std::uint8_t* factors = nullptr;
    bool of_7_bits = false;  // each weight is in [-63, 63], which some kernels multiply faster
};

struct F32Weights {
    using Linear = LinearF32;
    using Input = F32Rows;
    static constexpr std::uint64_t kCostOfElement = kCostOfF32Product;

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
            has_4_bits ? all.factors + packed_s4_factors(packing, first, all.inputs) : nullptr,
            all.of_7_bits};
}
constexpr F32Weights outputs_of(const F32Weights& all, Packing packing, std::uint32_t first,
                                std::uint32_t count) noexcept {
    return {all.weights + packed_f32_elements(packing, first, all.inputs),
            all.bias == nullptr ? nullptr : all.bias + first, count, all.inputs};
}

struct LinearS8Rows;

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

    // See op.hpp. Workers that share rows find what they wrote in their own caches when the ops along rows follow,
    // which share rows alike; but each of them reads all weights. That is the better way where these are fewer bytes
    // than the outputs, and where every worker has so many rows that a unit more or less does not matter. Weights of 4
    // bits would be expanded by each worker.
    bool prefers_rows(std::uint32_t workers) const noexcept {
        return weights.factors == nullptr && weights.inputs < count * sizeof(float) && count >= kLeastRows * workers;
    }
    LinearS8Rows by_rows() const noexcept;

    static constexpr std::uint32_t kLeastRows = 64;  // of each worker
};

// The same linear. Units: kUnitRows rows.
struct LinearS8Rows {
    const LinearS8& linear;

    static constexpr std::uint32_t kUnitRows = 16;  // of a tile of amx_int8, the most rows that any set takes together

    std::uint32_t units() const noexcept { return (linear.count + kUnitRows - 1) / kUnitRows; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

inline LinearS8Rows LinearS8::by_rows() const noexcept {
    return {*this};
}

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
