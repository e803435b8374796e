// SPDX-License-Identifier: Apache-2.0
// LayerNorm of a row in shared memory, and the kernels that end with it: the embedding sum and a linear with
// residual.
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

// The sum of value(i) along a row in the contract's order.
template <class Warp, class Value>
ETCH_DEVICE float sum_in_order(const Warp& warp, std::uint32_t width, Value value) noexcept {
    typename Warp::template PerLane<float> partial;
    warp.lanes([&](std::uint32_t lane) {
        float mine = 0.0f;
        ETCH_DEVICE_UNROLL
        for (std::uint32_t i = lane % 16; i < width; i += 16)
            mine += value(i);
        partial[lane] = mine;
    });
    return warp.sum_of_16(partial);
}

// The same, of a block by its first warp, with `total` in shared memory; or in any order, by all lanes.
template <bool kExact, class Team, class Value>
ETCH_DEVICE float sum_of_row(Team& team, std::uint32_t width, float* total, Value value) noexcept {
    if constexpr (!kExact) {
        typename Team::template PerLane<float> partial;
        team.lanes([&](std::uint32_t lane) {
            float mine = 0.0f;
            for (std::uint32_t i = lane; i < width; i += Team::kLanes)
                mine += value(i);
            partial[lane] = mine;
        });
        return team.sum(partial);
    } else if constexpr (Team::kIsWarp) {
        return sum_in_order(team, width, value);
    } else {
        team.warps([&](auto& warp) {
            if (warp.index() != 0) return;
            const float sum = sum_in_order(warp, width, value);
            warp.lanes([&](std::uint32_t lane) {
                if (lane == 0) *total = sum;
            });
        });
        return *total;
    }
}

// LayerNorm of the row whose columns `row` gives as a source does, without its number: to `values`, in shared memory as
// sinks want it, norm_floats() of it. A block fetches the weights with the row, for later it would wait for them; where
// each row has a warp, others have work.
template <bool kExact, class Team, class Row>
ETCH_DEVICE void layer_norm(Team& team, const LayerNormWeights& weights, std::uint32_t width, const Row& row,
                            float* values) noexcept {
    float* const sums = values + row_floats(width);
    float* const gamma = sums + 4;
    float* const beta = gamma + row_floats(width);
    team.lanes([&](std::uint32_t lane) {
        if (row.has_fours(width)) {
            for (std::uint32_t i = 4 * lane; i < width; i += 4 * Team::kLanes) {
                const Four of_row = row.four_at(i);
                if constexpr (!Team::kIsWarp) {
                    const Four of_gamma = load_four(weights.gamma + i);
                    const Four of_beta = load_four(weights.beta + i);
                    store_four(of_gamma, gamma + i);
                    store_four(of_beta, beta + i);
                }
                store_four(of_row, values + i);
            }
        } else {
            for (std::uint32_t i = lane; i < row_floats(width); i += Team::kLanes) {
                values[i] = i < width ? row.at(i) : 0.0f;
                if constexpr (!Team::kIsWarp) {
                    gamma[i] = i < width ? weights.gamma[i] : 0.0f;
                    beta[i] = i < width ? weights.beta[i] : 0.0f;
                }
            }
        }
    });
    const auto itself = [&](std::uint32_t i) { return values[i]; };
    const float mean = sum_of_row<kExact>(team, width, &sums[0], itself) * weights.inverse_width;
    const auto square = [&](std::uint32_t i) {
        const float d = values[i] - mean;
        return d * d;
    };
    const float variance = sum_of_row<kExact>(team, width, &sums[1], square) * weights.inverse_width;
    const float r = 1.0f / square_root(variance + weights.epsilon);
    const float* const scale = Team::kIsWarp ? weights.gamma : gamma;
    const float* const shift = Team::kIsWarp ? weights.beta : beta;
    const auto normal = [&](float x, float g, float s) { return ((x - mean) * r) * g + s; };
    team.lanes([&](std::uint32_t lane) {
        if (row.has_fours(width)) {
            for (std::uint32_t i = 4 * lane; i < width; i += 4 * Team::kLanes) {
                Four x = load_four(values + i);
                const Four g = load_four(scale + i);
                const Four s = load_four(shift + i);
                for (std::uint32_t n = 0; n < 4; ++n)
                    x.of[n] = normal(x.of[n], g.of[n], s.of[n]);
                store_four(x, values + i);
            }
        } else {
            for (std::uint32_t i = lane; i < width; i += Team::kLanes)
                values[i] = normal(values[i], scale[i], shift[i]);
        }
    });
}

// Of a row, by a block or a warp.
constexpr std::uint32_t norm_floats(std::uint32_t width, bool by_warps) noexcept {
    return by_warps ? row_floats(width) : 3 * row_floats(width) + 4;
}

// Four neighbouring floats of an entry, the first a multiple of 4 as the width is.
ETCH_DEVICE inline Four four_of(const S8Embedding& embedding, std::uint32_t index, std::uint32_t width,
                                std::uint32_t i) noexcept {
    Four to;
    if (has_4_bits(embedding)) {
        for (std::uint32_t n = 0; n < 4; ++n)
            to.of[n] = value_of(embedding, index, width, i + n);
        return to;
    }
    const std::uint32_t word = load_words<1>(embedding.table + std::size_t{index} * width + i).words[0];
    const float scale = embedding.scales[index];
    for (std::uint32_t n = 0; n < 4; ++n)
        to.of[n] = static_cast<float>(static_cast<std::int8_t>(word >> 8 * n)) * scale;
    return to;
}
ETCH_DEVICE inline Four four_of(const F32Embedding& embedding, std::uint32_t index, std::uint32_t width,
                                std::uint32_t i) noexcept {
    return load_four(embedding.table + std::size_t{index} * width + i);
}

// LayerNorm((word + segment) + position) to `hidden` and to `out`. `Embedding` is S8Embedding or F32Embedding.
template <class Embedding, class Sink, bool kByWarps = false>
struct EmbedNorm {
    static constexpr std::uint32_t kThreads = kByWarps ? kRowWarpThreads : kRowThreads;

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

    Grid grid() const noexcept { return row_grid(rows, kByWarps); }
    std::size_t shared_bytes() const noexcept { return row_bytes(norm_floats(width, kByWarps), kByWarps); }

    template <class Block>
    ETCH_DEVICE void operator()(Block& block) const noexcept {
        for_each_row<kByWarps>(block, *count, norm_floats(width, kByWarps),
                               [&](auto& team, std::uint32_t row, float* values) {
                                   const RowInfo token = tokens[row];
                                   layer_norm<Sink::kExact>(team, norm, width, Row{*this, token}, values);
                                   hidden.store(team, row, values, width);
                                   out.store(team, row, values, width);
                               });
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
        ETCH_DEVICE Four four_at(std::uint32_t i) const noexcept {
            const Four word = four_of(of.word, static_cast<std::uint32_t>(token.id), of.width, i);
            const Four segment = four_of(of.segment, token.segment, of.width, i);
            const Four position = four_of(of.position, token.position, of.width, i);
            Four sum;
            for (std::uint32_t n = 0; n < 4; ++n)
                sum.of[n] = (word.of[n] + segment.of[n]) + position.of[n];
            return sum;
        }
    };
};

// LayerNorm(in + residual) to `hidden` and to `out`. Either may be where the residual comes from, unless `first_rows`
// is given.
template <class Source, class Residual, class Sink, bool kByWarps = false>
struct SumNorm {
    static constexpr std::uint32_t kThreads = kByWarps ? kRowWarpThreads : kRowThreads;

    Source in;
    Residual residual;
    const TextInfo* first_rows;  // null, or row t's residual is the first row of text t
    LayerNormWeights norm;
    F32Sink hidden;
    Sink out;
    std::uint32_t width;
    const std::uint32_t* count;  // rows there are
    std::uint32_t rows;          // at most

    Grid grid() const noexcept { return row_grid(rows, kByWarps); }
    std::size_t shared_bytes() const noexcept { return row_bytes(norm_floats(width, kByWarps), kByWarps); }

    template <class Block>
    ETCH_DEVICE void operator()(Block& block) const noexcept {
        for_each_row<kByWarps>(block, *count, norm_floats(width, kByWarps),
                               [&](auto& team, std::uint32_t row, float* values) {
                                   const std::uint32_t from = first_rows == nullptr ? row : first_rows[row].first;
                                   layer_norm<Sink::kExact>(team, norm, width, Row{*this, row, from}, values);
                                   hidden.store(team, row, values, width);
                                   out.store(team, row, values, width);
                               });
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
