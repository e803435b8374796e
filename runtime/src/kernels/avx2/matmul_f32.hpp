// SPDX-License-Identifier: Apache-2.0
// matmul_f32_4x16: f32 x f32 -> f32, tiles of 4 rows x 16 columns, the whole K in registers, in the order of k with a
// separate multiplication and addition. Included by avx2.cpp only.
//
// a       [rows][k], row stride a_stride floats, any alignment.
// weights [n][k] f32 in Packing::panel, made by codegen/pack.py or by the Pack ops for keys and values; any alignment.
// out     [rows][n] f32, row stride out_stride floats; columns from n on are not touched. residual may be out.
// Any rows (tails of 1 to 3 rows have their own tiles), any n (the last panel is stored by mask), any k.
#pragma once

#include <cstddef>

#include "../call_count.hpp"
#include "../kernel_set.hpp"
#include "epilogue.hpp"
#include "vectors.hpp"

namespace etch {
inline namespace abi1 {
namespace avx2 {
namespace {

template <unsigned kRows>
inline void multiply_tile_f32(const float* a, std::size_t a_stride, const float* weights, std::uint32_t k,
                              __m256 (&sums)[kRows][2]) noexcept {
    ETCH_AVX2_UNROLL
    for (unsigned r = 0; r < kRows; ++r)
        sums[r][0] = sums[r][1] = _mm256_setzero_ps();

    for (std::uint32_t i = 0; i < k; ++i) {
        const __m256 low = _mm256_loadu_ps(weights);
        const __m256 high = _mm256_loadu_ps(weights + 8);
        weights += 16;
        ETCH_AVX2_UNROLL
        for (unsigned r = 0; r < kRows; ++r) {
            const __m256 value = _mm256_broadcast_ss(a + r * a_stride);
            sums[r][0] = _mm256_add_ps(sums[r][0], _mm256_mul_ps(value, low));
            sums[r][1] = _mm256_add_ps(sums[r][1], _mm256_mul_ps(value, high));
        }
        ++a;
    }
}

template <unsigned kRows>
inline void tile_f32(const MatmulF32& m, std::uint32_t row, const PanelColumns& columns, const float* weights,
                     const __m256 (&bias)[2]) noexcept {
    __m256 y[kRows][2];
    multiply_tile_f32<kRows>(m.a + row * m.a_stride, m.a_stride, weights, m.k, y);
    ETCH_AVX2_UNROLL
    for (unsigned r = 0; r < kRows; ++r) {
        if (m.row_scales != nullptr) {
            const __m256 row_scale = _mm256_set1_ps(m.row_scales[row + r]);
            y[r][0] = _mm256_mul_ps(y[r][0], row_scale);
            y[r][1] = _mm256_mul_ps(y[r][1], row_scale);
        }
        y[r][0] = _mm256_add_ps(y[r][0], bias[0]);
        y[r][1] = _mm256_add_ps(y[r][1], bias[1]);
    }
    finish_tile<kRows>(m, row, columns, y);
}

void matmul_f32_4x16(const MatmulF32& m, std::uint32_t first_panel, std::uint32_t last_panel) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCountAvx2, kCountMatmulF32);
    for (std::uint32_t panel = first_panel; panel < last_panel; ++panel) {
        const PanelColumns columns(panel, m.n);
        const float* weights = m.weights + std::size_t{panel} * m.k * 16;
        __m256 bias[2];
        columns.load(m.bias, 0.0f, bias);
        std::uint32_t row = 0;
        for (; row + 4 <= m.rows; row += 4)
            tile_f32<4>(m, row, columns, weights, bias);
        switch (m.rows - row) {
            case 3:
                tile_f32<3>(m, row, columns, weights, bias);
                break;
            case 2:
                tile_f32<2>(m, row, columns, weights, bias);
                break;
            case 1:
                tile_f32<1>(m, row, columns, weights, bias);
                break;
            default:
                break;
        }
    }
}

}  // namespace
}  // namespace avx2
}  // namespace abi1
}  // namespace etch
