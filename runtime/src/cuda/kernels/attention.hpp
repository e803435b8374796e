// SPDX-License-Identifier: Apache-2.0
// Attention of a tile of query rows of one head in one text: a block for each. Scores, then probabilities, then sums of
// values stay in shared memory; the two products go through the tensor cores, a warp for each tile of 16 x 16.
#pragma once

#include <cstddef>
#include <cstdint>

#include "attention_heads.hpp"
#include "etch/cuda/input.hpp"
#include "grid.hpp"
#include "tiles.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

// context = softmax(query keys^T * score_scale) values. `Heads` is ExactHeads or FastHeads.
template <class Heads>
struct Attention {
    static constexpr std::uint32_t kThreads = kAttentionThreads;
    static constexpr std::uint32_t kBlocksAtOnce = Heads::kBlocksAtOnce;

    Heads heads;
    const TextInfo* texts;
    bool first_rows_only;        // the first row of text t to row t of the context, and no others
    std::uint32_t query_rows;    // of a block: a multiple of kTile, attention_query_rows()
    std::uint32_t longest;       // tokens of a text, at most
    const std::uint32_t* count;  // texts there are
    std::uint32_t rows;          // texts at most

    Grid grid() const noexcept {
        return {first_rows_only ? 1 : (longest + query_rows - 1) / query_rows, heads.shape.heads, rows};
    }
    std::size_t shared_bytes() const noexcept {
        return attention_shared_bytes(longest, heads.shape.stride, query_rows, sizeof(Value));
    }

    template <class Block>
    ETCH_DEVICE void operator()(Block& block) const noexcept {
        const std::uint32_t text_index = block.z();
        if (text_index >= *count) return;
        const TextInfo text = texts[text_index];
        const std::uint32_t first = block.x() * query_rows;
        if (first >= text.count) return;
        const std::uint32_t left = first_rows_only ? 1 : text.count - first;
        const Queries queries{text, block.y(), first, left < query_rows ? left : query_rows};
        const Shared shared = shared_of(block);
        scores(block, queries, shared);
        probabilities(block, queries, shared);
        sums_of_values(block, queries, shared);
        store(block, queries, shared, first_rows_only ? text_index : text.first + first);
    }

  private:
    using Value = typename Heads::Value;

    // What a block works on: rows [first, first + rows) of a text.
    struct Queries {
        TextInfo text;
        std::uint32_t head;
        std::uint32_t first;
        std::uint32_t rows;
    };

    struct Shared {
        std::uint32_t* words;  // [query_rows][stride]: scores, then e, then sums of values, those of each split in turn
        std::uint32_t stride;
        Value* probabilities;  // [tokens / 16][query_rows][16]
        float* factors;        // [query_rows]
    };

    template <class Block>
    ETCH_DEVICE Shared shared_of(Block& block) const noexcept {
        std::uint8_t* const memory = block.shared();
        const std::uint32_t stride = attention_words_stride(longest, heads.shape.stride, query_rows);
        Value* const behind = reinterpret_cast<Value*>(memory + query_rows * stride * sizeof(std::uint32_t));
        float* const last = reinterpret_cast<float*>(behind + query_rows * round_up(longest, kTile));
        return {reinterpret_cast<std::uint32_t*>(memory), stride, behind, last};
    }

    static ETCH_DEVICE std::uint32_t tiles(std::uint32_t rows) noexcept { return (rows + kTile - 1) / kTile; }

    template <class Block>
    ETCH_DEVICE void scores(Block& block, const Queries& of, const Shared& shared) const noexcept {
        const std::uint32_t query_tiles = tiles(of.rows);
        const std::uint32_t tasks = query_tiles * tiles(of.text.count);
        block.warps([&](auto& warp) {
            for (std::uint32_t task = warp.index(); task < tasks; task += Block::kWarps) {
                const std::uint32_t query = task % query_tiles * kTile;
                const std::uint32_t key = task / query_tiles * kTile;
                typename Block::Warp::template Product<Value> product;
                product.add_transposed(heads.queries(of.text, of.head, of.first + query),
                                       heads.keys(of.text, of.head, key), heads.shape.stride / kTile);
                product.store(shared.words + query * shared.stride + key, shared.stride);
            }
        });
    }

    // Each row by a warp.
    template <class Block>
    ETCH_DEVICE void probabilities(Block& block, const Queries& of, const Shared& shared) const noexcept {
        block.warps([&](auto& warp) {
            for (std::uint32_t row = warp.index(); row < of.rows; row += Block::kWarps) {
                Value* const to = shared.probabilities + row * kTile;
                const float factor = heads.softmax(
                    warp, of.text, of.head, of.first + row, shared.words + row * shared.stride,
                    [&](std::uint32_t j, Value p) { to[j / kTile * query_rows * kTile + j % kTile] = p; });
                warp.lanes([&](std::uint32_t lane) {
                    if (lane == 0) shared.factors[row] = factor;
                });
            }
        });
    }

    template <class Block>
    ETCH_DEVICE void sums_of_values(Block& block, const Queries& of, const Shared& shared) const noexcept {
        const std::uint32_t query_tiles = tiles(of.rows);
        const std::uint32_t splits = attention_splits(heads.shape.stride, query_rows);
        const std::uint32_t columns = splits * heads.shape.stride;
        const std::uint32_t tasks = query_tiles * (columns / kTile);
        const std::uint32_t token_tiles = tiles(of.text.count);
        block.warps([&](auto& warp) {
            for (std::uint32_t task = warp.index(); task < tasks; task += Block::kWarps) {
                const std::uint32_t query = task % query_tiles * kTile;
                const std::uint32_t column = task / query_tiles * kTile;
                const std::uint32_t split = column / heads.shape.stride;
                const std::uint32_t first = token_tiles * split / splits;
                const std::uint32_t last = token_tiles * (split + 1) / splits;
                const std::size_t step = std::size_t{query_rows} * kTile;
                typename Block::Warp::template Product<Value> product;
                product.add(Tiles<Value>{shared.probabilities + first * step + query * kTile, kTile, step},
                            heads.values(of.text, of.head, first * kTile, column % heads.shape.stride), last - first);
                product.store(shared.words + query * shared.stride + column, shared.stride);
            }
        });
    }

    template <class Block>
    ETCH_DEVICE void store(Block& block, const Queries& of, const Shared& shared, std::uint32_t to) const noexcept {
        const std::uint32_t width = heads.shape.stride;
        const std::uint32_t splits = attention_splits(width, query_rows);
        block.threads([&](std::uint32_t thread) {
            for (std::uint32_t i = thread; i < of.rows * width; i += kThreads) {
                const std::uint32_t row = i / width;
                const std::uint32_t column = i % width;
                typename Heads::Sum sum = 0;
                for (std::uint32_t split = 0; split < splits; ++split)
                    sum += Heads::sum_of(shared.words[row * shared.stride + split * width + column]);
                heads.store(to + row, of.head, column, static_cast<float>(sum) * shared.factors[row]);
            }
        });
    }
};

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
