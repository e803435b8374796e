// SPDX-License-Identifier: Apache-2.0
// Attention of a tile of query rows of one head in one text: a block for each. Scores, then probabilities, then sums of
// values stay in shared memory; the two products go through the tensor cores, a warp for each tile of 16 x 16.
#pragma once

#include <cstddef>
#include <cstdint>

#include "attention_heads.hpp"
#include "etch/cuda/input.hpp"
#include "grid.hpp"
#include "row_block.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

// context = softmax(query keys^T * score_scale) values. `Heads` is ExactHeads or FastHeads.
template <class Heads>
struct Attention {
    static constexpr std::uint32_t kThreads = 256;

    Heads heads;
    const TextInfo* texts;
    bool first_rows_only;        // the first row of text t to row t of the context, and no others
    std::uint32_t query_rows;    // of a block: a multiple of kTile
    std::uint32_t longest;       // tokens of a text, at most
    const std::uint32_t* count;  // texts there are
    std::uint32_t rows;          // texts at most

    Grid grid() const noexcept {
        return {first_rows_only ? 1 : (longest + query_rows - 1) / query_rows, heads.shape.heads, rows};
    }
    std::size_t shared_bytes() const noexcept {
        return attention_shared_bytes(longest, heads.shape.stride, query_rows, sizeof(typename Heads::Value));
    }

    template <class Block>
    ETCH_DEVICE void operator()(Block& block) const noexcept {
        const std::uint32_t text_index = block.z();
        if (text_index >= *count) return;
        const TextInfo text = texts[text_index];
        const std::uint32_t first = block.x() * query_rows;
        if (first >= text.count) return;
        const std::uint32_t left = first_rows_only ? 1 : text.count - first;
        const Tile tile{text, block.y(), first, left < query_rows ? left : query_rows};
        const Shared shared = shared_of(block);

        scores(block, tile, shared);
        probabilities(block, tile, shared);
        sums_of_values(block, tile, shared);

        const std::uint32_t to = first_rows_only ? text_index : text.first + first;
        block.threads([&](std::uint32_t thread) {
            for (std::uint32_t i = thread; i < tile.rows * heads.shape.stride; i += kThreads) {
                const std::uint32_t row = i / heads.shape.stride;
                const std::uint32_t column = i % heads.shape.stride;
                const float sum = Heads::sum_of(shared.words[row * shared.words_stride + column]);
                heads.store(to + row, tile.head, column, sum * shared.factors[row]);
            }
        });
    }

  private:
    struct Tile {
        TextInfo text;
        std::uint32_t head;
        std::uint32_t first;  // query row of the text
        std::uint32_t rows;
    };

    struct Shared {
        std::uint32_t* words;  // [query_rows][words_stride]: scores, then e, then sums of values
        std::uint32_t words_stride;
        typename Heads::Value* probabilities;  // [tokens / 16][query_rows][16]
        float* factors;                        // [query_rows]
    };

    template <class Block>
    ETCH_DEVICE Shared shared_of(Block& block) const noexcept {
        std::uint8_t* const memory = block.shared();
        const std::uint32_t stride = attention_words_stride(longest, heads.shape.stride);
        const std::size_t words = std::size_t{query_rows} * stride * sizeof(std::uint32_t);
        const std::size_t tokens = round_up(longest, kTile);
        return {reinterpret_cast<std::uint32_t*>(memory), stride,
                reinterpret_cast<typename Heads::Value*>(memory + words),
                reinterpret_cast<float*>(memory + words + query_rows * tokens * sizeof(typename Heads::Value))};
    }

    static ETCH_DEVICE std::uint32_t tiles(std::uint32_t rows) noexcept { return (rows + kTile - 1) / kTile; }

    template <class Block>
    ETCH_DEVICE void scores(Block& block, const Tile& tile, const Shared& shared) const noexcept {
        const std::uint32_t query_tiles = tiles(tile.rows);
        const std::uint32_t tasks = query_tiles * tiles(tile.text.count);
        block.warps([&](auto& warp) {
            for (std::uint32_t task = warp.index(); task < tasks; task += Block::kWarps) {
                const std::uint32_t query = task % query_tiles * kTile;
                const std::uint32_t key = task / query_tiles * kTile;
                typename Block::Warp::template Product<typename Heads::Value> product;
                for (std::uint32_t column = 0; column < heads.shape.stride; column += kTile) {
                    product.add_transposed(heads.query(tile.text, tile.head, tile.first + query, column),
                                           heads.tile_stride(), heads.key(tile.text, tile.head, key, column),
                                           heads.tile_stride());
                }
                product.store(shared.words + query * shared.words_stride + key, shared.words_stride);
            }
        });
    }

    // Each row by a warp.
    template <class Block>
    ETCH_DEVICE void probabilities(Block& block, const Tile& tile, const Shared& shared) const noexcept {
        const std::uint32_t tokens = tile.text.count;
        block.warps([&](auto& warp) {
            using Warp = typename Block::Warp;
            for (std::uint32_t row = warp.index(); row < tile.rows; row += Block::kWarps) {
                std::uint32_t* const words = shared.words + row * shared.words_stride;
                const auto to_t = heads.scale_of(tile.text, tile.head, tile.first + row);
                typename Warp::template PerLane<float> mine;
                warp.lanes([&](std::uint32_t lane) {
                    float largest = -kHuge;
                    for (std::uint32_t j = lane; j < tokens; j += Warp::kLanes) {
                        const float t = to_t(Heads::sum_of(words[j]), j);
                        words[j] = scalar::bits_of(t);
                        largest = t > largest ? t : largest;
                    }
                    mine[lane] = largest;
                });
                const float largest = warp.max(mine);
                warp.lanes([&](std::uint32_t lane) {
                    for (std::uint32_t j = lane; j < tokens; j += Warp::kLanes)
                        words[j] = scalar::bits_of(scalar::exp2(scalar::from_bits(words[j]) - largest));
                });
                warp.lanes([&](std::uint32_t lane) {
                    float sum = 0.0f;
                    for (std::uint32_t j = lane % 16; j < tokens; j += 16)
                        sum += scalar::from_bits(words[j]);
                    mine[lane] = sum;
                });
                const float sum = warp.sum_of_16(mine);
                const std::size_t stride = std::size_t{query_rows} * kTile;
                const float factor = heads.round_probabilities(
                    warp, tile.text, tile.head, words, sum, [&](std::uint32_t j, typename Heads::Value p) {
                        shared.probabilities[j / kTile * stride + row * kTile + j % kTile] = p;
                    });
                warp.lanes([&](std::uint32_t lane) {
                    if (lane == 0) shared.factors[row] = factor;
                });
            }
        });
    }

    template <class Block>
    ETCH_DEVICE void sums_of_values(Block& block, const Tile& tile, const Shared& shared) const noexcept {
        const std::uint32_t query_tiles = tiles(tile.rows);
        const std::uint32_t tasks = query_tiles * (heads.shape.stride / kTile);
        block.warps([&](auto& warp) {
            for (std::uint32_t task = warp.index(); task < tasks; task += Block::kWarps) {
                const std::uint32_t query = task % query_tiles * kTile;
                const std::uint32_t column = task / query_tiles * kTile;
                typename Block::Warp::template Product<typename Heads::Value> product;
                for (std::uint32_t token = 0; token < tile.text.count; token += kTile) {
                    product.add(shared.probabilities + (std::size_t{token} * query_rows + query * kTile), kTile,
                                heads.value(tile.text, tile.head, token, column), heads.tile_stride());
                }
                product.store(shared.words + query * shared.words_stride + column, shared.words_stride);
            }
        });
    }

    static constexpr float kHuge = 0x1p127f;
};

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
