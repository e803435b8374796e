// SPDX-License-Identifier: Apache-2.0
// Weight tables of the CPU to what the GPU multiplies: once, when weights are loaded.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bf16.hpp"
#include "etch/packing.hpp"
#include "grid.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

// Index i among groups of `width`, each of which takes `stride` places: heads whose width is padded. All of one group
// with width 1 and stride 1.
struct Groups {
    std::uint32_t width = 1;
    std::uint32_t stride = 1;

    constexpr std::size_t place(std::uint32_t i) const noexcept { return std::size_t{i} / width * stride + i % width; }
};

// The integers themselves.
struct PackedS8 {
    using Value = std::int8_t;
    const std::int8_t* weights;
    Packing packing;

    ETCH_DEVICE std::int8_t at(std::uint32_t output, std::uint32_t input, std::uint32_t inputs) const noexcept {
        return weights[packed_s8_index(packing, output, input, inputs)];
    }
};

// Integers of 4 bits times the factor of their group.
struct PackedS4 {
    using Value = std::int8_t;
    const std::int8_t* weights;
    Packing packing;
    const std::uint8_t* factors;

    ETCH_DEVICE std::int8_t at(std::uint32_t output, std::uint32_t input, std::uint32_t inputs) const noexcept {
        const std::int8_t byte = weights[packed_s4_index(packing, output, input, inputs)];
        const int factor = factors[packed_s4_factor_index(packing, output, input, inputs)];
        return static_cast<std::int8_t>(s4_value(byte, packed_s4_high(packing, input)) * factor);
    }
};

// Integers times the scale of their output, rounded.
template <class Integers>
struct Scaled {
    using Value = Bf16;
    Integers integers;
    const float* scales;  // [outputs]

    ETCH_DEVICE Bf16 at(std::uint32_t output, std::uint32_t input, std::uint32_t inputs) const noexcept {
        return to_bf16(static_cast<float>(integers.at(output, input, inputs)) * scales[output]);
    }
};

// Floats, rounded.
struct PackedF32 {
    using Value = Bf16;
    const float* weights;
    Packing packing;

    ETCH_DEVICE Bf16 at(std::uint32_t output, std::uint32_t input, std::uint32_t inputs) const noexcept {
        return to_bf16(weights[packed_f32_index(packing, output, input, inputs)]);
    }
};

// The packed matrix as rows [output][input]. What is between and behind the groups is not written: zeros before. A
// vector is a matrix of one input in Packing::rows.
template <class Source>
struct Unpack {
    static constexpr std::uint32_t kThreads = 256;

    Source from;
    std::uint32_t outputs;
    std::uint32_t inputs;
    Groups output_groups;
    Groups input_groups;
    typename Source::Value* out;  // of output 0
    std::uint32_t stride;         // elements from one output to the next

    Grid grid() const noexcept { return {outputs, (inputs + kThreads - 1) / kThreads}; }
    std::size_t shared_bytes() const noexcept { return 0; }

    template <class Block>
    ETCH_DEVICE void operator()(Block& block) const noexcept {
        const std::uint32_t output = block.x();
        block.threads([&](std::uint32_t thread) {
            const std::uint32_t input = block.y() * kThreads + thread;
            if (input >= inputs) return;
            out[output_groups.place(output) * stride + input_groups.place(input)] = from.at(output, input, inputs);
        });
    }
};

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
