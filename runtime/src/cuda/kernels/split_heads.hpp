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
// in it a warp for each head; or, where a head's columns are few lanes' fours, for as many rows as fill a warp.
struct SplitHeads {
    static constexpr std::uint32_t kThreads = 192;

    S32Source in;           // [rows][3 * heads * head_width]
    const RowInfo* tokens;  // [rows]
    const TextInfo* texts;
    QuantizedHeads out;
    const std::uint32_t* count;  // rows there are
    std::uint32_t rows;          // at most

    Grid grid() const noexcept {
        if (!is_in_lanes()) return {rows};
        return {(rows + rows_at_once() - 1) / rows_at_once(), blocks_of_row()};
    }
    std::size_t shared_bytes() const noexcept { return is_in_lanes() ? 0 : parts() * out.head_width * sizeof(float); }

    template <class Block>
    ETCH_DEVICE void operator()(Block& block) const noexcept {
        if (is_in_lanes()) {
            block.warps([&](auto& warp) {
                split_in_lanes(warp, block.x() * rows_at_once(), block.y() * Block::kWarps + warp.index(),
                               blocks_of_row() * Block::kWarps);
            });
            return;
        }
        const std::uint32_t row = block.x();
        if (row >= *count) return;
        const std::uint32_t place = place_of(row);
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
    // Heads of a warp's rows that are under way before the first is used.
    static constexpr std::uint32_t kAtOnce = 3;

    // Whether a warp has whole heads, four columns to a lane, and chunks have no zeros behind.
    constexpr ETCH_DEVICE bool is_in_lanes() const noexcept {
        const std::uint32_t lanes = out.head_width / 4;
        return out.head_width % kTile == 0 && in.stride % 4 == 0 && lanes <= 32 && (lanes & (lanes - 1)) == 0;
    }
    // Rows whose columns of a head fill a warp: of one alone a chunk is 16 bytes, half of what memory takes at once.
    constexpr ETCH_DEVICE std::uint32_t rows_at_once() const noexcept { return 4 * 32 / out.head_width; }

    // Blocks that share the heads of their rows.
    constexpr ETCH_DEVICE std::uint32_t blocks_of_row() const noexcept { return rows < kManyRows ? 2 : 1; }

    ETCH_DEVICE std::uint32_t place_of(std::uint32_t row) const noexcept {
        return texts[tokens[row].text].place + tokens[row].position;
    }

    template <class Warp>
    ETCH_DEVICE void split_in_lanes(const Warp& warp, std::uint32_t first_row, std::uint32_t first_head,
                                    std::uint32_t step) const noexcept {
        struct Place {
            std::uint32_t row, column, place;
            bool is_there;
        };
        typename Warp::template PerLane<Place> at;
        warp.own([&](std::uint32_t lane) {
            const std::uint32_t row = first_row + (4 * lane >> log2_of(out.head_width));
            const bool is_there = row < *count;
            at[lane] = {row, 4 * lane & (out.head_width - 1), is_there ? place_of(row) : 0, is_there};
        });
        for (std::uint32_t first = first_head; first < parts(); first += step * kAtOnce) {
            typename Warp::template PerLane<Four> x[kAtOnce];
            warp.own([&](std::uint32_t lane) {
                ETCH_DEVICE_UNROLL_ALL
                for (std::uint32_t n = 0; n < kAtOnce; ++n) {
                    const std::uint32_t head = first + n * step;
                    x[n][lane] = at[lane].is_there && head < parts()
                                     ? in.four_at(at[lane].row, head * out.head_width + at[lane].column)
                                     : Four{};
                }
            });
            ETCH_DEVICE_UNROLL_ALL
            for (std::uint32_t n = 0; n < kAtOnce; ++n) {
                typename Warp::template PerLane<float> largest;
                warp.own([&](std::uint32_t lane) {
                    largest[lane] = 0.0f;
                    for (const float value : x[n][lane].of)
                        largest[lane] = larger(scalar::absolute(value), largest[lane]);
                });
                warp.max_of_some(largest, out.head_width / 4);
                warp.own([&](std::uint32_t lane) {
                    const std::uint32_t head = first + n * step;
                    if (!at[lane].is_there || head >= parts()) return;
                    const scalar::Quantization to = scalar::quantization_of(largest[lane]);
                    std::int32_t q[4];
                    for (std::uint32_t i = 0; i < 4; ++i)
                        q[i] = scalar::round_to_int(x[n][lane].of[i] * to.factor);
                    const std::uint32_t column = at[lane].column;
                    store_four(q, out.tile(0, head, at[lane].place, column) + column % kTile);
                    if (column == 0) out.scales_of(0, head)[at[lane].place] = to.scale;
                });
            }
        }
    }

    // Heads of all three, one after the other.
    constexpr ETCH_DEVICE std::uint32_t parts() const noexcept { return QuantizedHeads::kParts * out.heads; }
};

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
