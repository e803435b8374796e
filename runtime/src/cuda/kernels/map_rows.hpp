// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../kernels/scalar/activate.hpp"
#include "grid.hpp"
#include "row_block.hpp"
#include "row_values.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

// out = activation(in), row by row: dequantize, activate, quantize in one.
template <class Source, class Sink>
struct MapRows {
    static constexpr std::uint32_t kThreads = kRowThreads;

    Source in;
    Activation activation;
    Sink out;
    std::uint32_t width;
    const std::uint32_t* count;  // rows there are
    std::uint32_t rows;          // at most

    Grid grid() const noexcept { return {rows}; }
    std::size_t shared_bytes() const noexcept { return width * sizeof(float); }

    template <class Block>
    ETCH_DEVICE void operator()(Block& block) const noexcept {
        const std::uint32_t row = block.x();
        if (row >= *count) return;
        float* const values = reinterpret_cast<float*>(block.shared());
        if (width % 4 == 0 && in.stride % 4 == 0) {
            block.threads([&](std::uint32_t thread) {
                for (std::uint32_t i = 4 * thread; i < width; i += 4 * kThreads) {
                    Four x = in.four_at(row, i);
                    for (float& value : x.of)
                        value = scalar::activate(activation, value);
                    store_four(x, values + i);
                }
            });
        } else {
            block.threads([&](std::uint32_t thread) {
                for (std::uint32_t i = thread; i < width; i += kThreads)
                    values[i] = scalar::activate(activation, in.at(row, i));
            });
        }
        out.store(block, row, values, width);
    }
};

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
