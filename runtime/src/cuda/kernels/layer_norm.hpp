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

// LayerNorm of the row whose columns `row` gives as a source does, without its number: in shared memory,
// norm_shared_bytes() of it. The weights are fetched with the row, for later their way would be waited for.
template <bool kExact, class Block, class Row>
ETCH_DEVICE const float* layer_norm(Block& block, const LayerNormWeights& weights, std::uint32_t width,
                                    const Row& row) noexcept {
    float* const values = reinterpret_cast<float*>(block.shared());
    float* const gamma = values + width;
    float* const beta = gamma + width;
    float* const sums = beta + width;
    block.threads([&](std::uint32_t thread) {
        if (row.has_fours(width)) {
            for (std::uint32_t i = 4 * thread; i < width; i += 4 * Block::kThreads) {
                const Four of_row = row.four_at(i);
                const Four of_gamma = load_four(weights.gamma + i);
                const Four of_beta = load_four(weights.beta + i);
                store_four(of_row, values + i);
                store_four(of_gamma, gamma + i);
                store_four(of_beta, beta + i);
            }
        } else {
            for (std::uint32_t i = thread; i < width; i += Block::kThreads) {
                values[i] = row.at(i);
                gamma[i] = weights.gamma[i];
                beta[i] = weights.beta[i];
            }
        }
    });
    const auto itself = [&](std::uint32_t i) { return values[i]; };
    const float mean = sum_of_row<kExact>(block, width, &sums[0], itself) * weights.inverse_width;
    const auto square = [&](std::uint32_t i) {
        const float d = values[i] - mean;
        return d * d;
    };
    const float variance = sum_of_row<kExact>(block, width, &sums[1], square) * weights.inverse_width;
    const float r = 1.0f / square_root(variance + weights.epsilon);
    block.threads([&](std::uint32_t thread) {
        for (std::uint32_t i = thread; i < width; i += Block::kThreads)
            values[i] = ((values[i] - mean) * r) * gamma[i] + beta[i];
    });
    return values;
}

constexpr std::size_t norm_shared_bytes(std::uint32_t width) noexcept {
    return (std::size_t{3} * width + 2) * sizeof(float);
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
    std::size_t shared_bytes() const noexcept { return norm_shared_bytes(width); }

    template <class Block>
    ETCH_DEVICE void operator()(Block& block) const noexcept {
        const std::uint32_t row = block.x();
        if (row >= *count) return;
        const RowInfo token = tokens[row];
        const float* const values = layer_norm<Sink::kExact>(block, norm, width, Row{*this, token});
        hidden.store(block, row, values, width);
        out.store(block, row, values, width);
    }

  private:
    struct Row {
        const EmbedNorm& of;
        const RowInfo& token;

        ETCH_DEVICE bool has_fours(std::uint32_t width) const noexcept { return width % 4 == 0; }
        ETCH_DEVICE float at(std::uint32_t i) const noexcept {
            return (value_of(of.word, static_cast<std::uint32_t>(token.id), of.width, i) +
                    value_of(of.segment, token.segment, of.width, i)) +
                   value_of(of.position, token.position, of.width, i);
        }
        ETCH_DEVICE Four four_at(std::uint32_t i) const noexcept { return {{at(i), at(i + 1), at(i + 2), at(i + 3)}}; }
    };
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
    std::size_t shared_bytes() const noexcept { return norm_shared_bytes(width); }

    template <class Block>
    ETCH_DEVICE void operator()(Block& block) const noexcept {
        const std::uint32_t row = block.x();
        if (row >= *count) return;
        const std::uint32_t from = first_rows == nullptr ? row : first_rows[row].first;
        const float* const values = layer_norm<Sink::kExact>(block, norm, width, Row{*this, row, from});
        hidden.store(block, row, values, width);
        out.store(block, row, values, width);
    }

  private:
    struct Row {
        const SumNorm& of;
        std::uint32_t row;
        std::uint32_t from;

        ETCH_DEVICE bool has_fours(std::uint32_t width) const noexcept {
            return width % 4 == 0 && of.in.stride % 4 == 0 && of.residual.stride % 4 == 0;
        }
        ETCH_DEVICE float at(std::uint32_t i) const noexcept { return of.in.at(row, i) + of.residual.at(from, i); }
        ETCH_DEVICE Four four_at(std::uint32_t i) const noexcept {
            Four sum = of.in.four_at(row, i);
            const Four before = of.residual.four_at(from, i);
            for (std::uint32_t n = 0; n < 4; ++n)
                sum.of[n] += before.of[n];
            return sum;
        }
    };
};

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
