// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../kernels/square_root.hpp"
#include "etch/cuda/input.hpp"
#include "etch/ops/row_ops.hpp"
#include "grid.hpp"
#include "row_values.hpp"
#include "words.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

// out = LayerNorm(in + residual) where a row is short enough for the registers of one warp: kTurns times 256 columns. A
// lane has 8 neighbouring ones of each 256. Width, strides and addresses are multiples of 16 values, and out.stride is
// the width. `out` may be where the residual comes from, unless `first_rows` is given.
template <std::uint32_t kTurns>
struct FastSumNorm {
    static constexpr std::uint32_t kThreads = 64;
    static constexpr std::uint32_t kColumnsOfTurn = 32 * 8;

    Bf16Source in;
    Bf16Source residual;
    const TextInfo* first_rows;  // null, or row t's residual is the first row of text t
    LayerNormWeights norm;
    Bf16Sink out;
    std::uint32_t width;
    const std::uint32_t* count;  // rows there are
    std::uint32_t rows;          // at most

    Grid grid() const noexcept { return {(rows + kRowsOfBlock - 1) / kRowsOfBlock}; }
    std::size_t shared_bytes() const noexcept { return 0; }

    template <class Block>
    ETCH_DEVICE void operator()(Block& block) const noexcept {
        block.warps([&](auto& warp) {
            const std::uint32_t row = block.x() * kRowsOfBlock + warp.index();
            if (row >= *count) return;
            normalize(warp, row, first_rows == nullptr ? row : first_rows[row].first);
        });
    }

  private:
    static constexpr std::uint32_t kRowsOfBlock = kThreads / 32;

    struct Eight {
        float of[8];
    };

    ETCH_DEVICE static std::uint32_t column_of(std::uint32_t turn, std::uint32_t lane) noexcept {
        return turn * kColumnsOfTurn + lane * 8;
    }

    template <class Warp>
    ETCH_DEVICE void normalize(const Warp& warp, std::uint32_t row, std::uint32_t from) const noexcept {
        typename Warp::template PerLane<Eight> x[kTurns];
        typename Warp::template PerLane<Words<8>> gamma[kTurns], beta[kTurns];
        typename Warp::template PerLane<float> mine;
        warp.own([&](std::uint32_t lane) {
            float sum = 0.0f;
            for (std::uint32_t turn = 0; turn < kTurns; ++turn) {
                const std::uint32_t column = column_of(turn, lane);
                if (column >= width) continue;
                const auto a = load_words<4>(in.values + std::size_t{row} * in.stride + column);
                const auto b = load_words<4>(residual.values + std::size_t{from} * residual.stride + column);
                gamma[turn][lane] = load_words<8>(norm.gamma + column);
                beta[turn][lane] = load_words<8>(norm.beta + column);
                for (std::uint32_t i = 0; i < 4; ++i) {
                    const float low = lower_float(a.words[i]) + lower_float(b.words[i]);
                    const float high = upper_float(a.words[i]) + upper_float(b.words[i]);
                    x[turn][lane].of[2 * i] = low;
                    x[turn][lane].of[2 * i + 1] = high;
                    sum += low + high;
                }
            }
            mine[lane] = sum;
        });
        const float mean = warp.sum(mine) * norm.inverse_width;
        warp.own([&](std::uint32_t lane) {
            float sum = 0.0f;
            for (std::uint32_t turn = 0; turn < kTurns; ++turn) {
                if (column_of(turn, lane) >= width) continue;
                for (float& value : x[turn][lane].of) {
                    value = value - mean;
                    sum += value * value;
                }
            }
            mine[lane] = sum;
        });
        const float r = 1.0f / square_root(warp.sum(mine) * norm.inverse_width + norm.epsilon);
        warp.own([&](std::uint32_t lane) {
            for (std::uint32_t turn = 0; turn < kTurns; ++turn) {
                const std::uint32_t column = column_of(turn, lane);
                if (column >= width) continue;
                float y[8];
                for (std::uint32_t i = 0; i < 8; ++i) {
                    y[i] = (x[turn][lane].of[i] * r) * scalar::from_bits(gamma[turn][lane].words[i]) +
                           scalar::from_bits(beta[turn][lane].words[i]);
                }
                Words<4> words;
                for (std::uint32_t i = 0; i < 4; ++i)
                    words.words[i] = pack_bf16(y[2 * i], y[2 * i + 1]);
                store_words(words, out.values + std::size_t{row} * out.stride + column);
            }
        });
    }
};

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
