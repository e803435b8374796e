// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../kernels/device.hpp"
#include "etch/packing.hpp"
#include "grid.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

// The f32 linear of a head: out = (sum over k, from +0.0f) + bias. A thread for each output.
struct LinearRowsF32 {
    static constexpr std::uint32_t kThreads = 64;

    const float* in;       // [rows][inputs]
    const float* weights;  // [outputs][inputs], packed as the model's tables are
    Packing packing;
    const float* bias;  // [outputs]; null: +0.0f is added
    float* out;         // [rows][outputs]
    std::uint32_t inputs;
    std::uint32_t outputs;
    const std::uint32_t* count;  // rows there are
    std::uint32_t rows;          // at most

    Grid grid() const noexcept { return {rows, (outputs + kThreads - 1) / kThreads}; }
    std::size_t shared_bytes() const noexcept { return 0; }

    template <class Block>
    ETCH_DEVICE void operator()(Block& block) const noexcept {
        const std::uint32_t row = block.x();
        if (row >= *count) return;
        const float* const values = in + std::size_t{row} * inputs;
        block.threads([&](std::uint32_t thread) {
            const std::uint32_t output = block.y() * kThreads + thread;
            if (output >= outputs) return;
            float sum = 0.0f;
            ETCH_DEVICE_UNROLL
            for (std::uint32_t k = 0; k < inputs; ++k)
                sum = sum + values[k] * weights[packed_f32_index(packing, output, k, inputs)];
            out[std::size_t{row} * outputs + output] = sum + (bias == nullptr ? 0.0f : bias[output]);
        });
    }
};

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
