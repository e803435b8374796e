// SPDX-License-Identifier: Apache-2.0
// What attention does differently in the two modes: where tiles of heads lie, how a sum becomes a score, how a
// probability is rounded.
//
// Common members: Value, of a tile; shape; query, key and value give the tile of 16 tokens and 16 columns that begins
// at a token and a column, tile_stride() values from row to row; sum_of() makes a float of a word that a product has
// stored; scale_of() gives the function from sum and key to score t; round_probabilities() hands out probabilities,
// zeros behind the last up to a multiple of kTile, and gives the factor of the sums of values.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../kernels/scalar/quantization.hpp"
#include "bf16.hpp"
#include "etch/cuda/input.hpp"
#include "quantized_heads.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

struct AttentionShape {
    std::uint32_t heads;
    std::uint32_t head_width;
    std::uint32_t stride;  // head_width rounded up to kTile: columns that are multiplied
    float score_scale;     // log2(e) / sqrt(head_width)
};

// Words between rows of scores: four more than the tiles need, or the rows of a tile would share a bank.
constexpr std::uint32_t attention_words_stride(std::uint32_t longest, std::uint32_t head_stride) noexcept {
    const auto tokens = static_cast<std::uint32_t>(round_up(longest, kTile));
    return (tokens > head_stride ? tokens : head_stride) + 4;
}

constexpr std::size_t attention_shared_bytes(std::uint32_t longest, std::uint32_t head_stride, std::uint32_t query_rows,
                                             std::size_t value_bytes) noexcept {
    return query_rows * (attention_words_stride(longest, head_stride) * sizeof(std::uint32_t) +
                         round_up(longest, kTile) * value_bytes + sizeof(float));
}

struct ExactHeads {
    using Value = std::int8_t;

    AttentionShape shape;
    QuantizedHeads in;
    float* context;  // [rows][context_stride]
    std::uint32_t context_stride;

    ETCH_DEVICE static constexpr std::uint32_t tile_stride() noexcept { return kTile; }
    ETCH_DEVICE const Value* query(const TextInfo& text, std::uint32_t head, std::uint32_t token,
                                   std::uint32_t column) const noexcept {
        return in.tile(QuantizedHeads::kQuery, head, text.place + token, column);
    }
    ETCH_DEVICE const Value* key(const TextInfo& text, std::uint32_t head, std::uint32_t token,
                                 std::uint32_t column) const noexcept {
        return in.tile(QuantizedHeads::kKey, head, text.place + token, column);
    }
    ETCH_DEVICE const Value* value(const TextInfo& text, std::uint32_t head, std::uint32_t token,
                                   std::uint32_t column) const noexcept {
        return in.tile(QuantizedHeads::kValue, head, text.place + token, column);
    }

    ETCH_DEVICE static float sum_of(std::uint32_t word) noexcept {
        return static_cast<float>(static_cast<std::int32_t>(word));
    }

    struct Scale {
        float query;
        const float* keys;
        ETCH_DEVICE float operator()(float sum, std::uint32_t key) const noexcept { return (sum * query) * keys[key]; }
    };
    ETCH_DEVICE Scale scale_of(const TextInfo& text, std::uint32_t head, std::uint32_t token) const noexcept {
        const float* const queries = in.scales_of(QuantizedHeads::kQuery, head) + text.place;
        return {queries[token] * shape.score_scale, in.scales_of(QuantizedHeads::kKey, head) + text.place};
    }

    template <class Warp, class Put>
    ETCH_DEVICE float round_probabilities(Warp& warp, const TextInfo& text, std::uint32_t head,
                                          const std::uint32_t* words, float sum, Put put) const noexcept {
        const float* const scales = in.scales_of(QuantizedHeads::kValue, head) + text.place;
        typename Warp::template PerLane<float> mine;
        warp.lanes([&](std::uint32_t lane) {
            float largest = 0.0f;
            for (std::uint32_t j = lane; j < text.count; j += Warp::kLanes) {
                const float w = scalar::from_bits(words[j]) * scales[j];
                largest = w > largest ? w : largest;
            }
            mine[lane] = largest;
        });
        const float largest = warp.max(mine);
        const float factor = scalar::quantization_of(largest).factor;
        warp.lanes([&](std::uint32_t lane) {
            for (std::uint32_t j = lane; j < round_up(text.count, kTile); j += Warp::kLanes) {
                const float w = j < text.count ? scalar::from_bits(words[j]) * scales[j] : 0.0f;
                put(j, static_cast<Value>(scalar::round_to_int(w * factor)));
            }
        });
        return (largest * polynomials::kInverse127) / sum;
    }

    ETCH_DEVICE void store(std::uint32_t row, std::uint32_t head, std::uint32_t column, float value) const noexcept {
        if (column >= shape.head_width) return;
        context[std::size_t{row} * context_stride + head * shape.head_width + column] = value;
    }
};

// Queries, keys and values in the rows of one matrix, one after the other; columns of a head from head_width to stride
// are zero, in the context too.
struct FastHeads {
    using Value = Bf16;

    AttentionShape shape;
    const Bf16* in;  // [rows][in_stride], 32-byte aligned; in_stride is a multiple of kTile
    std::uint32_t in_stride;
    Bf16* context;  // [rows][context_stride]
    std::uint32_t context_stride;

    ETCH_DEVICE std::uint32_t tile_stride() const noexcept { return in_stride; }
    ETCH_DEVICE const Value* query(const TextInfo& text, std::uint32_t head, std::uint32_t token,
                                   std::uint32_t column) const noexcept {
        return tile(0, text, head, token, column);
    }
    ETCH_DEVICE const Value* key(const TextInfo& text, std::uint32_t head, std::uint32_t token,
                                 std::uint32_t column) const noexcept {
        return tile(1, text, head, token, column);
    }
    ETCH_DEVICE const Value* value(const TextInfo& text, std::uint32_t head, std::uint32_t token,
                                   std::uint32_t column) const noexcept {
        return tile(2, text, head, token, column);
    }

    ETCH_DEVICE static float sum_of(std::uint32_t word) noexcept { return scalar::from_bits(word); }

    struct Scale {
        float factor;
        ETCH_DEVICE float operator()(float sum, std::uint32_t) const noexcept { return sum * factor; }
    };
    ETCH_DEVICE Scale scale_of(const TextInfo&, std::uint32_t, std::uint32_t) const noexcept {
        return {shape.score_scale};
    }

    template <class Warp, class Put>
    ETCH_DEVICE float round_probabilities(Warp& warp, const TextInfo& text, std::uint32_t, const std::uint32_t* words,
                                          float sum, Put put) const noexcept {
        warp.lanes([&](std::uint32_t lane) {
            for (std::uint32_t j = lane; j < round_up(text.count, kTile); j += Warp::kLanes)
                put(j, to_bf16(j < text.count ? scalar::from_bits(words[j]) : 0.0f));
        });
        return 1.0f / sum;
    }

    ETCH_DEVICE void store(std::uint32_t row, std::uint32_t head, std::uint32_t column, float value) const noexcept {
        context[std::size_t{row} * context_stride + head * shape.stride + column] = to_bf16(value);
    }

  private:
    ETCH_DEVICE const Value* tile(std::uint32_t part, const TextInfo& text, std::uint32_t head, std::uint32_t token,
                                  std::uint32_t column) const noexcept {
        return in + std::size_t{text.first + token} * in_stride + (part * shape.heads + head) * shape.stride + column;
    }
};

// Query rows of a block, so that there are enough blocks for every multiprocessor, and beyond that few, for each reads
// all keys and values of its head.
constexpr std::uint32_t attention_query_rows(std::uint32_t longest, std::uint32_t head_stride, std::uint32_t heads,
                                             std::uint32_t texts, std::size_t value_bytes) noexcept {
    constexpr std::uint32_t kEnoughBlocks = 512;
    constexpr std::size_t kBytesOfTwoBlocks = 100 * 1024;  // so that a multiprocessor has room for two
    std::uint32_t rows = kTile;
    while (rows < 64 && (longest + 2 * rows - 1) / (2 * rows) * heads * texts >= kEnoughBlocks &&
           attention_shared_bytes(longest, head_stride, 2 * rows, value_bytes) <= kBytesOfTwoBlocks)
        rows *= 2;
    return rows;
}

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
