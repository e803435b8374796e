// SPDX-License-Identifier: Apache-2.0
// LayerNorm of a row in shared memory, and the kernels that end with it: the embedding sum and a linear with residual.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../kernels/square_root.hpp"
#include "../../ops/entry.hpp"
#include "etch/cuda/input.hpp"
#include "etch/ops/row_ops.hpp"
#include "grid.hpp"
#include "row_block.hpp"
#include "row_values.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

// The sum of value(i) along a row: by the block's first warp in the contract's order, `total` in shared memory, or by
// all threads in any order.
template <bool kExact, class Block, class Value>
ETCH_DEVICE float sum_of_row(Block& block, std::uint32_t width, float* total, Value value) noexcept {
    if constexpr (kExact) {
        block.warps([&](auto& warp) {
            if (warp.index() != 0) return;
            typename Block::Warp::template PerLane<float> partial;
            warp.lanes([&](std::uint32_t lane) {
                float mine = 0.0f;
                ETCH_DEVICE_UNROLL
                for (std::uint32_t i = lane % 16; i < width; i += 16)
                    mine += value(i);
                partial[lane] = mine;
            });
            const float sum = warp.sum_of_16(partial);
            warp.lanes([&](std::uint32_t lane) {
                if (lane == 0) *total = sum;
            });
        });
        return *total;
    } else {
        typename Block::template PerThread<float> partial;
        block.threads([&](std::uint32_t thread) {
            float mine = 0.0f;
            for (std::uint32_t i = thread; i < width; i += Block::kThreads)
                mine += value(i);
            partial[thread] = mine;
        });
        return block.sum(partial);
    }
}

// In place; `sums` are two floats in shared memory.
template <bool kExact, class Block>
ETCH_DEVICE void layer_norm(Block& block, const LayerNormWeights& weights, float* values, std::uint32_t width,
                            float* sums) noexcept {
    const auto value = [&](std::uint32_t i) { return values[i]; };
    const float mean = sum_of_row<kExact>(block, width, &sums[0], value) * weights.inverse_width;
    const auto square = [&](std::uint32_t i) {
        const float d = values[i] - mean;
        return d * d;
    };
    const float variance = sum_of_row<kExact>(block, width, &sums[1], square) * weights.inverse_width;
    const float r = 1.0f / square_root(variance + weights.epsilon);
    block.threads([&](std::uint32_t thread) {
        for (std::uint32_t i = thread; i < width; i += Block::kThreads)
            values[i] = ((values[i] - mean) * r) * weights.gamma[i] + weights.beta[i];
    });
}

// LayerNorm((word + segment) + position) to `hidden` and to `out`. `Embedding` is S8Embedding or F32Embedding.
template <class Embedding, class Sink>
struct EmbedNorm {
    static constexpr std::uint32_t kThreads = kRowThreads;

    const RowInfo* tokens;  // [rows]
    Embedding word;
    Embedding segment;
    Embedding position;
    LayerNormWeights norm;
    F32Sink hidden;
    Sink out;
    std::uint32_t width;
    const std::uint32_t* count;  // rows there are
    std::uint32_t rows;          // at most

    Grid grid() const noexcept { return {rows}; }
    std::size_t shared_bytes() const noexcept { return width * sizeof(float) + kRowSumBytes; }

    template <class Block>
    ETCH_DEVICE void operator()(Block& block) const noexcept {
        const std::uint32_t row = block.x();
        if (row >= *count) return;
        float* const values = reinterpret_cast<float*>(block.shared());
        const RowInfo token = tokens[row];
        with_entry(word, static_cast<std::uint32_t>(token.id), width, [&](const auto& from_word) noexcept {
            with_entry(segment, token.segment, width, [&](const auto& from_segment) noexcept {
                with_entry(position, token.position, width, [&](const auto& from_position) noexcept {
                    block.threads([&](std::uint32_t thread) {
                        for (std::uint32_t i = thread; i < width; i += kThreads)
                            values[i] = (from_word[i] + from_segment[i]) + from_position[i];
                    });
                });
            });
        });
        layer_norm<Sink::kExact>(block, norm, values, width, values + width);
        hidden.store(block, row, values, width);
        out.store(block, row, values, width);
    }
};

// LayerNorm(in + residual) to `hidden` and to `out`. Either may be where the residual comes from, unless `first_rows`
// is given.
template <class Source, class Residual, class Sink>
struct SumNorm {
    static constexpr std::uint32_t kThreads = kRowThreads;

    Source in;
    Residual residual;
    const TextInfo* first_rows;  // null, or row t's residual is the first row of text t
    LayerNormWeights norm;
    F32Sink hidden;
    Sink out;
    std::uint32_t width;
    const std::uint32_t* count;  // rows there are
    std::uint32_t rows;          // at most

    Grid grid() const noexcept { return {rows}; }
    std::size_t shared_bytes() const noexcept { return width * sizeof(float) + kRowSumBytes; }

    template <class Block>
    ETCH_DEVICE void operator()(Block& block) const noexcept {
        const std::uint32_t row = block.x();
        if (row >= *count) return;
        float* const values = reinterpret_cast<float*>(block.shared());
        const std::uint32_t from = first_rows == nullptr ? row : first_rows[row].first;
        block.threads([&](std::uint32_t thread) {
            for (std::uint32_t i = thread; i < width; i += kThreads)
                values[i] = in.at(row, i) + residual.at(from, i);
        });
        layer_norm<Sink::kExact>(block, norm, values, width, values + width);
        hidden.store(block, row, values, width);
        out.store(block, row, values, width);
    }
};

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
