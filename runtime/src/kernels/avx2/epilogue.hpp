// SPDX-License-Identifier: Apache-2.0
// What the matrix products do with a tile of sums. Included by avx2.cpp only.
#pragma once

#include <cstddef>

#include "activation.hpp"
#include "vectors.hpp"

namespace etch {
inline namespace abi1 {
namespace avx2 {
namespace {

// The 16 columns of a panel that exist: all, or the first ones of the last panel.
struct PanelColumns {
    std::uint32_t first;  // column
    std::uint32_t count;  // 1 to 16

    PanelColumns(std::uint32_t panel, std::uint32_t n) noexcept
        : first(panel * 16), count(n - panel * 16 < 16 ? n - panel * 16 : 16) {}

    // Two vectors of per-column constants; `absent` for a null pointer. Columns that do not exist get +0.0f.
    void load(const float* values, float absent, __m256 (&out)[2]) const noexcept {
        if (values == nullptr) {
            out[0] = out[1] = _mm256_set1_ps(absent);
        } else if (count == 16) {
            out[0] = _mm256_loadu_ps(values + first);
            out[1] = _mm256_loadu_ps(values + first + 8);
        } else {
            const std::int32_t lanes = static_cast<std::int32_t>(count);
            out[0] = Part(lanes).load(values + first);
            out[1] = Part(lanes - 8).load(values + first + 8);
        }
    }
};

// Two vectors of one row: + residual, stored.
template <class Lanes>
inline void store_row(const float* residual, float* out, __m256 low, __m256 high, Lanes low_lanes,
                      Lanes high_lanes) noexcept {
    if (residual != nullptr) {
        low = _mm256_add_ps(low, low_lanes.load(residual));
        high = _mm256_add_ps(high, high_lanes.load(residual + 8));
    }
    low_lanes.store(out, low);
    high_lanes.store(out + 8, high);
}

// Activation and residual of kRows rows, y[row][2] holding everything before; stores them. `Matmul` is MatmulS8 or
// MatmulF32.
template <unsigned kRows, class Matmul>
inline void finish_tile(const Matmul& m, std::uint32_t row, const PanelColumns& columns,
                        __m256 (&y)[kRows][2]) noexcept {
    if (m.activation != Activation::none) {
        alignas(32) float values[kRows * 16];
        ETCH_AVX2_UNROLL
        for (unsigned r = 0; r < kRows; ++r) {
            _mm256_store_ps(values + r * 16, y[r][0]);
            _mm256_store_ps(values + r * 16 + 8, y[r][1]);
        }
        apply_activation(m.activation, values, kRows * 16);
        ETCH_AVX2_UNROLL
        for (unsigned r = 0; r < kRows; ++r) {
            y[r][0] = _mm256_load_ps(values + r * 16);
            y[r][1] = _mm256_load_ps(values + r * 16 + 8);
        }
    }
    std::size_t at = row * m.out_stride + columns.first;
    const std::int32_t lanes = static_cast<std::int32_t>(columns.count);
    ETCH_AVX2_UNROLL
    for (unsigned r = 0; r < kRows; ++r) {
        const float* residual = m.residual == nullptr ? nullptr : m.residual + at;
        if (lanes == 16) {
            store_row(residual, m.out + at, y[r][0], y[r][1], Whole{}, Whole{});
        } else {
            store_row(residual, m.out + at, y[r][0], y[r][1], Part(lanes), Part(lanes - 8));
        }
        at += m.out_stride;
    }
}

}  // namespace
}  // namespace avx2
}  // namespace abi1
}  // namespace etch
