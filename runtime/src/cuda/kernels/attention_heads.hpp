// SPDX-License-Identifier: Apache-2.0
// What attention does differently in the two modes: where tiles of heads lie, how scores become probabilities.
//
// Common members: Value and Sum, of a product's tiles; shape; queries(), keys() and values() give the tiles that begin
// at a token: of queries and keys those of all columns, of values those of later tokens; sum_of() of a word that a
// product has stored; softmax() makes probabilities of a row's sums, hands them out, zeros behind the last up to a
// multiple of kTile, and gives the factor of the sums of values; store() puts a value into the context.
// kBlocksAtOnce is of launch.cu: as many as fit without much of a thread's values in memory.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "../../kernels/scalar/quantization.hpp"
#include "bf16.hpp"
#include "etch/cuda/input.hpp"
#include "quantized_heads.hpp"
#include "row_block.hpp"
#include "tiles.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

inline constexpr std::uint32_t kAttentionThreads = 512;

struct AttentionShape {
    std::uint32_t heads;
    std::uint32_t head_width;
    std::uint32_t stride;  // head_width rounded up to kTile: columns that are multiplied
    float score_scale;     // log2(e) / sqrt(head_width)
};

// Parts that the tokens are cut into for the product with the values, so that every warp has a tile.
constexpr std::uint32_t attention_splits(std::uint32_t head_stride, std::uint32_t query_rows) noexcept {
    constexpr std::uint32_t kWarps = kAttentionThreads / 32;
    const std::uint32_t tiles = (head_stride / kTile) * (query_rows / kTile);
    return tiles < kWarps ? kWarps / tiles : 1;
}

// Words between rows of scores: four more than the tiles need, or the rows of a tile would share a bank.
constexpr std::uint32_t attention_words_stride(std::uint32_t longest, std::uint32_t head_stride,
                                               std::uint32_t query_rows) noexcept {
    const auto tokens = static_cast<std::uint32_t>(round_up(longest, kTile));
    const std::uint32_t columns = attention_splits(head_stride, query_rows) * head_stride;
    return (tokens > columns ? tokens : columns) + 4;
}

constexpr std::size_t attention_shared_bytes(std::uint32_t longest, std::uint32_t head_stride, std::uint32_t query_rows,
                                             std::size_t value_bytes) noexcept {
    return query_rows * (attention_words_stride(longest, head_stride, query_rows) * sizeof(std::uint32_t) +
                         round_up(longest, kTile) * value_bytes + sizeof(float));
}

// Query rows of a block: few while there are too few blocks for every multiprocessor, many where there are enough, for
// each block reads all keys and values of its head.
constexpr std::uint32_t attention_query_rows(std::uint32_t longest, std::uint32_t head_stride, std::uint32_t heads,
                                             std::uint32_t texts, std::size_t value_bytes) noexcept {
    constexpr std::uint32_t kEnoughBlocks = 512;
    std::uint32_t rows = kTile;
    while (rows < 64 && (longest + 2 * rows - 1) / (2 * rows) * heads * texts >= kEnoughBlocks &&
           attention_shared_bytes(longest, head_stride, 2 * rows, value_bytes) <= kMostSharedBytes)
        rows *= 2;
    return rows;
}

struct ExactHeads {
    using Value = std::int8_t;
    using Sum = std::int32_t;
    static constexpr std::uint32_t kBlocksAtOnce = 3;

    AttentionShape shape;
    QuantizedHeads in;
    float* context;  // [rows][context_stride]
    std::uint32_t context_stride;

    ETCH_DEVICE Tiles<Value> queries(const TextInfo& text, std::uint32_t head, std::uint32_t token) const noexcept {
        return {in.tile(QuantizedHeads::kQuery, head, text.place + token, 0), kTile, in.column_step()};
    }
    ETCH_DEVICE Tiles<Value> keys(const TextInfo& text, std::uint32_t head, std::uint32_t token) const noexcept {
        return {in.tile(QuantizedHeads::kKey, head, text.place + token, 0), kTile, in.column_step()};
    }
    ETCH_DEVICE Tiles<Value> values(const TextInfo& text, std::uint32_t head, std::uint32_t token,
                                    std::uint32_t column) const noexcept {
        return {in.tile(QuantizedHeads::kValue, head, text.place + token, column), kTile, kTile * kTile};
    }

    ETCH_DEVICE static Sum sum_of(std::uint32_t word) noexcept { return static_cast<Sum>(word); }

    // The contract's; the words become e.
    template <class Warp, class Put>
    ETCH_DEVICE float softmax(Warp& warp, const TextInfo& text, std::uint32_t head, std::uint32_t token,
                              std::uint32_t* words, Put put) const noexcept {
        const float query_scale = in.scales_of(QuantizedHeads::kQuery, head)[text.place + token] * shape.score_scale;
        const float* const key_scales = in.scales_of(QuantizedHeads::kKey, head) + text.place;
        const float* const value_scales = in.scales_of(QuantizedHeads::kValue, head) + text.place;
        typename Warp::template PerLane<float> mine;
        warp.lanes([&](std::uint32_t lane) {
            float largest = -0x1p127f;
            for_each_scale<Warp>(key_scales, lane, text.count, [&](std::uint32_t j, float scale) {
                const float t = (static_cast<float>(sum_of(words[j])) * query_scale) * scale;
                words[j] = scalar::bits_of(t);
                largest = t > largest ? t : largest;
            });
            mine[lane] = largest;
        });
        const float largest_t = warp.max(mine);
        warp.lanes([&](std::uint32_t lane) {
            float largest = 0.0f;
            for_each_scale<Warp>(value_scales, lane, text.count, [&](std::uint32_t j, float scale) {
                const float e = scalar::exp2(scalar::from_bits(words[j]) - largest_t);
                words[j] = scalar::bits_of(e);
                const float w = e * scale;
                largest = w > largest ? w : largest;
            });
            mine[lane] = largest;
        });
        const float largest_w = warp.max(mine);
        const float factor = scalar::quantization_of(largest_w).factor;
        warp.lanes([&](std::uint32_t lane) {
            for_each_scale<Warp>(value_scales, lane, text.count, [&](std::uint32_t j, float scale) {
                const float w = scalar::from_bits(words[j]) * scale;
                put(j, static_cast<Value>(scalar::round_to_int(w * factor)));
            });
            for (std::uint32_t j = text.count + lane; j < round_up(text.count, kTile); j += Warp::kLanes)
                put(j, Value{0});
            float sum = 0.0f;
            ETCH_DEVICE_UNROLL
            for (std::uint32_t j = lane % 16; j < text.count; j += 16)
                sum += scalar::from_bits(words[j]);
            mine[lane] = sum;
        });
        return (largest_w * polynomials::kInverse127) / warp.sum_of_16(mine);
    }

    ETCH_DEVICE void store(std::uint32_t row, std::uint32_t head, std::uint32_t column, float value) const noexcept {
        if (column >= shape.head_width) return;
        context[std::size_t{row} * context_stride + head * shape.head_width + column] = value;
    }

  private:
    // f(j, scales[j]) of a lane's tokens j. Several scales are fetched before the first is used: what f writes could be
    // a scale, as far as a compiler sees, and each would be waited for.
    template <class Warp, class F>
    ETCH_DEVICE static void for_each_scale(const float* scales, std::uint32_t lane, std::uint32_t count, F f) noexcept {
        constexpr std::uint32_t kAtOnce = 4;
        for (std::uint32_t first = lane; first < count; first += kAtOnce * Warp::kLanes) {
            float some[kAtOnce];
            ETCH_DEVICE_UNROLL_ALL
            for (std::uint32_t i = 0; i < kAtOnce; ++i) {
                const std::uint32_t j = first + i * Warp::kLanes;
                some[i] = j < count ? scales[j] : 0.0f;
            }
            ETCH_DEVICE_UNROLL_ALL
            for (std::uint32_t i = 0; i < kAtOnce; ++i) {
                const std::uint32_t j = first + i * Warp::kLanes;
                if (j < count) f(j, some[i]);
            }
        }
    }
};

// Queries, keys and values in the rows of one matrix, one after the other; columns of a head from head_width to stride
// are zero, in the context too.
struct FastHeads {
    using Value = Bf16;
    using Sum = float;
    static constexpr std::uint32_t kBlocksAtOnce = 2;

    AttentionShape shape;
    const Bf16* in;  // [rows][in_stride], 32-byte aligned; in_stride is a multiple of kTile
    std::uint32_t in_stride;
    Bf16* context;  // [rows][context_stride]
    std::uint32_t context_stride;

    ETCH_DEVICE Tiles<Value> queries(const TextInfo& text, std::uint32_t head, std::uint32_t token) const noexcept {
        return {tile(0, text, head, token), in_stride, kTile};
    }
    ETCH_DEVICE Tiles<Value> keys(const TextInfo& text, std::uint32_t head, std::uint32_t token) const noexcept {
        return {tile(1, text, head, token), in_stride, kTile};
    }
    ETCH_DEVICE Tiles<Value> values(const TextInfo& text, std::uint32_t head, std::uint32_t token,
                                    std::uint32_t column) const noexcept {
        return {tile(2, text, head, token) + column, in_stride, std::size_t{kTile} * in_stride};
    }

    ETCH_DEVICE static Sum sum_of(std::uint32_t word) noexcept { return scalar::from_bits(word); }

    template <class Warp, class Put>
    ETCH_DEVICE float softmax(Warp& warp, const TextInfo& text, std::uint32_t, std::uint32_t,
                              const std::uint32_t* words, Put put) const noexcept {
        typename Warp::template PerLane<float> mine;
        warp.lanes([&](std::uint32_t lane) {
            float largest = -0x1p127f;
            for (std::uint32_t j = lane; j < text.count; j += Warp::kLanes) {
                const float sum = sum_of(words[j]);
                largest = sum > largest ? sum : largest;
            }
            mine[lane] = largest;
        });
        const float largest_t = warp.max(mine) * shape.score_scale;
        warp.lanes([&](std::uint32_t lane) {
            float sum = 0.0f;
            for (std::uint32_t j = lane; j < round_up(text.count, kTile); j += Warp::kLanes) {
                const float e = j < text.count ? ::exp2f(sum_of(words[j]) * shape.score_scale - largest_t) : 0.0f;
                put(j, to_bf16(e));
                sum += e;
            }
            mine[lane] = sum;
        });
        return 1.0f / warp.sum(mine);
    }

    ETCH_DEVICE void store(std::uint32_t row, std::uint32_t head, std::uint32_t column, float value) const noexcept {
        context[std::size_t{row} * context_stride + head * shape.stride + column] = to_bf16(value);
    }

  private:
    ETCH_DEVICE const Value* tile(std::uint32_t part, const TextInfo& text, std::uint32_t head,
                                  std::uint32_t token) const noexcept {
        return in + std::size_t{text.first + token} * in_stride + (part * shape.heads + head) * shape.stride;
    }
};

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
