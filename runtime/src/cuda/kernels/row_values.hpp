// SPDX-License-Identifier: Apache-2.0
// Where the kernels that work on whole rows take a row's values from, and where they put them.
//
// A source has `at(row, column)`, and `four_at(row, column)` of four neighbours, where column and stride are multiples
// of 4 and the addresses of 16 bytes; a sink has `store(team, row, values, width)`, called by a whole block or warp
// with the row in shared memory, from a multiple of 16 bytes on and with zeros behind it up to a multiple of 4 columns,
// and says whether the row must have the contract's bits. Strides are in elements.
#pragma once

#include <cstdint>

#include "../../kernels/scalar/quantization.hpp"
#include "bf16.hpp"
#include "words.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

// The product of quantized rows and quantized weights: (float(sum) * row scale) * column scale + bias.
struct S32Source {
    const std::int32_t* sums;  // [rows][stride]
    std::uint32_t stride;
    const float* row_scales;     // [rows]
    const float* column_scales;  // [width]
    const float* bias;           // [width]; null: +0.0f is added

    ETCH_DEVICE static float value(std::int32_t sum, float row_scale, float column_scale, float added) noexcept {
        return (static_cast<float>(sum) * row_scale) * column_scale + added;
    }
    ETCH_DEVICE float at(std::uint32_t row, std::uint32_t column) const noexcept {
        return value(sums[std::size_t{row} * stride + column], row_scales[row], column_scales[column],
                     bias == nullptr ? 0.0f : bias[column]);
    }
    ETCH_DEVICE Four four_at(std::uint32_t row, std::uint32_t column) const noexcept {
        const auto some = load_words<4>(sums + std::size_t{row} * stride + column);
        const Four scales = load_four(column_scales + column);
        const Four added = bias == nullptr ? Four{} : load_four(bias + column);
        Four to;
        for (std::uint32_t i = 0; i < 4; ++i)
            to.of[i] = value(static_cast<std::int32_t>(some.words[i]), row_scales[row], scales.of[i], added.of[i]);
        return to;
    }
};

struct F32Source {
    const float* values;  // [rows][stride]
    std::uint32_t stride;

    ETCH_DEVICE float at(std::uint32_t row, std::uint32_t column) const noexcept {
        return values[std::size_t{row} * stride + column];
    }
    ETCH_DEVICE Four four_at(std::uint32_t row, std::uint32_t column) const noexcept {
        return load_four(values + std::size_t{row} * stride + column);
    }
};

struct Bf16Source {
    const Bf16* values;  // [rows][stride]
    std::uint32_t stride;

    ETCH_DEVICE float at(std::uint32_t row, std::uint32_t column) const noexcept {
        return to_float(values[std::size_t{row} * stride + column]);
    }
    ETCH_DEVICE Four four_at(std::uint32_t row, std::uint32_t column) const noexcept {
        const auto two = load_words<2>(values + std::size_t{row} * stride + column);
        return {{lower_float(two.words[0]), upper_float(two.words[0]), lower_float(two.words[1]),
                 upper_float(two.words[1])}};
    }
};

// Quantized with one scale per row, zeros from `width` to `stride`.
struct S8Sink {
    static constexpr bool kExact = true;

    std::int8_t* q;        // [rows][stride]
    std::uint32_t stride;  // a multiple of 4
    float* scales;         // [rows]

    template <class Team>
    ETCH_DEVICE void store(Team& team, std::uint32_t row, const float* values, std::uint32_t width) const noexcept {
        typename Team::template PerLane<float> largest;
        team.lanes([&](std::uint32_t lane) {
            float mine = 0.0f;
            for (std::uint32_t i = 4 * lane; i < width; i += 4 * Team::kLanes) {
                for (const float value : load_four(values + i).of)
                    mine = larger(scalar::absolute(value), mine);
            }
            largest[lane] = mine;
        });
        const scalar::Quantization to = scalar::quantization_of(team.max(largest));
        team.lanes([&](std::uint32_t lane) {
            for (std::uint32_t i = 4 * lane; i < stride; i += 4 * Team::kLanes) {
                const Four x = i < width ? load_four(values + i) : Four{};
                std::int32_t rounded[4];
                for (std::uint32_t n = 0; n < 4; ++n)
                    rounded[n] = scalar::round_to_int(x.of[n] * to.factor);
                store_four(rounded, q + std::size_t{row} * stride + i);
            }
            if (lane == 0) scales[row] = to.scale;
        });
    }
};

// Zeros from `width` to `stride`.
struct Bf16Sink {
    static constexpr bool kExact = false;

    Bf16* values;  // [rows][stride]
    std::uint32_t stride;

    template <class Team>
    ETCH_DEVICE void store(Team& team, std::uint32_t row, const float* from, std::uint32_t width) const noexcept {
        team.lanes([&](std::uint32_t lane) {
            for (std::uint32_t i = lane; i < stride; i += Team::kLanes)
                values[std::size_t{row} * stride + i] = to_bf16(i < width ? from[i] : 0.0f);
        });
    }
};

// Columns from `width` on are not written.
struct F32Sink {
    float* values;  // [rows][stride]; null: nothing is stored
    std::uint32_t stride;

    template <class Team>
    ETCH_DEVICE void store(Team& team, std::uint32_t row, const float* from, std::uint32_t width) const noexcept {
        if (values == nullptr) return;
        float* const to = values + std::size_t{row} * stride;
        team.lanes([&](std::uint32_t lane) {
            if (width % 4 == 0 && stride % 4 == 0) {
                for (std::uint32_t i = 4 * lane; i < width; i += 4 * Team::kLanes)
                    store_four(load_four(from + i), to + i);
            } else {
                for (std::uint32_t i = lane; i < width; i += Team::kLanes)
                    to[i] = from[i];
            }
        });
    }
};

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
