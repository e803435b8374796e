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

// f(activate) with the activation as a function of a float, chosen before f's loops instead of in them.
template <class F>
ETCH_DEVICE inline void with_activation(Activation activation, F f) noexcept {
    switch (activation) {
        case Activation::gelu:
            return f([](float x) { return scalar::gelu(x); });
        case Activation::none:
            return f([](float x) { return x; });
        default:
            return f([=](float x) { return scalar::activate(activation, x); });
    }
}

// out = activation(in), row by row: dequantize, activate, quantize in one. A block for each row, or, where rows are
// short and many, a warp.
template <class Source, class Sink, bool kByWarps = false>
struct MapRows {
    static constexpr std::uint32_t kBlocksAtOnce = kByWarps ? 1 : 8;
    static constexpr std::uint32_t kThreads = kByWarps ? kRowWarpThreads : kRowThreads;

    Source in;
    Activation activation;
    Sink out;
    std::uint32_t width;
    const std::uint32_t* count;  // rows there are
    std::uint32_t rows;          // at most

    Grid grid() const noexcept { return row_grid(rows, kByWarps); }
    std::size_t shared_bytes() const noexcept { return row_bytes(row_floats(width), kByWarps); }

    template <class Block>
    ETCH_DEVICE void operator()(Block& block) const noexcept {
        for_each_row<kByWarps>(block, *count, row_floats(width),
                               [&](auto& team, std::uint32_t row, float* values) { map(team, row, values); });
    }

  private:
    template <class Team>
    ETCH_DEVICE void map(Team& team, std::uint32_t row, float* values) const noexcept {
        with_activation(activation, [&](auto activate) {
            team.lanes([&](std::uint32_t lane) {
                if (width % 4 == 0 && in.stride % 4 == 0) {
                    for (std::uint32_t i = 4 * lane; i < width; i += 4 * Team::kLanes) {
                        Four x = in.four_at(row, i);
                        for (float& value : x.of)
                            value = activate(value);
                        store_four(x, values + i);
                    }
                } else {
                    for (std::uint32_t i = lane; i < row_floats(width); i += Team::kLanes)
                        values[i] = i < width ? activate(in.at(row, i)) : 0.0f;
                }
            });
        });
        out.store(team, row, values, width);
    }
};

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
