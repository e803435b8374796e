// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "etch/cuda/input.hpp"
#include "grid.hpp"
#include "quantized_heads.hpp"
#include "row_block.hpp"
#include "row_values.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

// Queries, keys and values, which lie one after the other in a row of `in`, quantized per head. A block for each row,
// in it a warp for each head.
struct SplitHeads {
    static constexpr std::uint32_t kThreads = kRowThreads;

    S32Source in;           // [rows][3 * heads * head_width]
    const RowInfo* tokens;  // [rows]
    const TextInfo* texts;
    QuantizedHeads out;
    const std::uint32_t* count;  // rows there are
    std::uint32_t rows;          // at most

    Grid grid() const noexcept { return {rows}; }
    std::size_t shared_bytes() const noexcept { return parts() * out.head_width * sizeof(float); }

    template <class Block>
    ETCH_DEVICE void operator()(Block& block) const noexcept {
        const std::uint32_t row = block.x();
        if (row >= *count) return;
        const std::uint32_t place = texts[tokens[row].text].place + tokens[row].position;
        if (is_in_lanes()) {
            block.warps([&](auto& warp) { split_in_lanes(warp, row, place, Block::kWarps); });
            return;
        }
        const std::uint32_t width = out.head_width;
        float* const values = reinterpret_cast<float*>(block.shared());
        block.threads([&](std::uint32_t thread) {
            for (std::uint32_t i = thread; i < parts() * width; i += kThreads)
                values[i] = in.at(row, i);
        });
        block.warps([&](auto& warp) {
            using Warp = typename Block::Warp;
            for (std::uint32_t head = warp.index(); head < parts(); head += Block::kWarps) {
                const float* const of_head = values + std::size_t{head} * width;
                typename Warp::template PerLane<float> mine;
                warp.lanes([&](std::uint32_t lane) {
                    float largest = 0.0f;
                    for (std::uint32_t i = lane; i < width; i += Warp::kLanes) {
                        const float magnitude = scalar::absolute(of_head[i]);
                        largest = magnitude > largest ? magnitude : largest;
                    }
                    mine[lane] = largest;
                });
                const scalar::Quantization to = scalar::quantization_of(warp.max(mine));
                warp.lanes([&](std::uint32_t lane) {
                    for (std::uint32_t i = lane; i < out.chunks() * kTile; i += Warp::kLanes) {
                        const std::int32_t q = i < width ? scalar::round_to_int(of_head[i] * to.factor) : 0;
                        out.tile(0, head, place, i)[i % kTile] = static_cast<std::int8_t>(q);
                    }
                    if (lane == 0) out.scales_of(0, head)[place] = to.scale;
                });
            }
        });
    }

  private:
    // Whether a warp has whole heads, four columns to a lane, and chunks have no zeros behind.
    constexpr ETCH_DEVICE bool is_in_lanes() const noexcept {
        const std::uint32_t lanes = out.head_width / 4;
        return out.head_width % kTile == 0 && in.stride % 4 == 0 && lanes <= 32 && (lanes & (lanes - 1)) == 0;
    }

    template <class Warp>
    ETCH_DEVICE void split_in_lanes(const Warp& warp, std::uint32_t row, std::uint32_t place,
                                    std::uint32_t warps) const noexcept {
        const std::uint32_t columns = parts() * out.head_width;
        for (std::uint32_t first = warp.index() * 4 * Warp::kLanes; first < columns;
             first += warps * 4 * Warp::kLanes) {
            typename Warp::template PerLane<Four> x;
            typename Warp::template PerLane<float> largest;
            warp.own([&](std::uint32_t lane) {
                const std::uint32_t column = first + 4 * lane;
                x[lane] = column < columns ? in.four_at(row, column) : Four{};
                largest[lane] = 0.0f;
                for (const float value : x[lane].of) {
                    const float magnitude = scalar::absolute(value);
                    largest[lane] = magnitude > largest[lane] ? magnitude : largest[lane];
                }
            });
            warp.max_of_some(largest, out.head_width / 4);
            warp.own([&](std::uint32_t lane) {
                const std::uint32_t column = first + 4 * lane;
                if (column >= columns) return;
                const scalar::Quantization to = scalar::quantization_of(largest[lane]);
                std::int32_t q[4];
                for (std::uint32_t i = 0; i < 4; ++i)
                    q[i] = scalar::round_to_int(x[lane].of[i] * to.factor);
                const std::uint32_t head = column / out.head_width;
                const std::uint32_t of_head = column % out.head_width;
                store_four(q, out.tile(0, head, place, of_head) + of_head % kTile);
                if (of_head == 0) out.scales_of(0, head)[place] = to.scale;
            });
        }
    }

    // Heads of all three, one after the other.
    constexpr ETCH_DEVICE std::uint32_t parts() const noexcept { return QuantizedHeads::kParts * out.heads; }
};

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
