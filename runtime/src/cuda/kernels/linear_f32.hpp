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

// The f32 linear of a head: out = (sum over k, from +0.0f, in order) + bias. A block for each row and kPanelWidth
// outputs: all threads multiply, then one for each output adds.
struct LinearRowsF32 {
    static constexpr std::uint32_t kThreads = 256;

    const float* in;       // [rows][inputs]
    const float* weights;  // [outputs][inputs], packed as the model's tables are
    Packing packing;
    const float* bias;  // [outputs]; null: +0.0f is added
    float* out;         // [rows][outputs]
    std::uint32_t inputs;
    std::uint32_t outputs;
    const std::uint32_t* count;  // rows there are
    std::uint32_t rows;          // at most

    Grid grid() const noexcept { return {rows, (outputs + kPanelWidth - 1) / kPanelWidth}; }
    std::size_t shared_bytes() const noexcept { return std::size_t{kInputsAtOnce} * kPanelWidth * sizeof(float); }

    template <class Block>
    ETCH_DEVICE void operator()(Block& block) const noexcept {
        const std::uint32_t row = block.x();
        if (row >= *count) return;
        const std::uint32_t first_output = block.y() * kPanelWidth;
        const std::uint32_t left = outputs - first_output;
        const std::uint32_t width = left < kPanelWidth ? left : kPanelWidth;
        float* const products = reinterpret_cast<float*>(block.shared());  // [kInputsAtOnce][width]
        typename Block::template PerThread<float> sum;
        block.threads([&](std::uint32_t thread) { sum[thread] = 0.0f; });
        for (std::uint32_t first = 0; first < inputs; first += kInputsAtOnce) {
            const std::uint32_t some = inputs - first < kInputsAtOnce ? inputs - first : kInputsAtOnce;
            // Several products are under way before the first is put down, which could be where a weight lies, as far
            // as a compiler sees.
            block.threads([&](std::uint32_t thread) {
                for (std::uint32_t at = thread; at < some * width; at += kAtOnce * kThreads) {
                    float product[kAtOnce];
                    ETCH_DEVICE_UNROLL_ALL
                    for (std::uint32_t n = 0; n < kAtOnce; ++n) {
                        const std::uint32_t i = at + n * kThreads;
                        if (i >= some * width) continue;
                        const std::uint32_t k = first + i / width;
                        product[n] = in[std::size_t{row} * inputs + k] *
                                     weights[packed_f32_index(packing, first_output + i % width, k, inputs)];
                    }
                    ETCH_DEVICE_UNROLL_ALL
                    for (std::uint32_t n = 0; n < kAtOnce; ++n) {
                        const std::uint32_t i = at + n * kThreads;
                        if (i < some * width) products[i] = product[n];
                    }
                }
            });
            block.threads([&](std::uint32_t thread) {
                if (thread >= width) return;
                float mine = sum[thread];
                ETCH_DEVICE_UNROLL
                for (std::uint32_t i = 0; i < some; ++i)
                    mine += products[i * width + thread];
                sum[thread] = mine;
            });
        }
        block.threads([&](std::uint32_t thread) {
            if (thread >= width) return;
            const std::uint32_t output = first_output + thread;
            out[std::size_t{row} * outputs + output] = sum[thread] + (bias == nullptr ? 0.0f : bias[output]);
        });
    }

  private:
    static constexpr std::uint32_t kInputsAtOnce = 512;
    static constexpr std::uint32_t kAtOnce = 8;
};

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
