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
inline namespace ETCH_ABI_NAMESPACE {
namespace avx2 {
namespace {

template <unsigned kRows>
ETCH_AVX2_INLINE void multiply_tile_f32(const float* a, std::size_t a_stride, const float* weights, std::uint32_t k,
                                        Floats (&sums)[kRows]) noexcept {
    ETCH_AVX2_UNROLL
    for (unsigned r = 0; r < kRows; ++r)
        sums[r] = all(0.0f);

    for (std::uint32_t i = 0; i < k; ++i) {
        const Floats w = load(weights);
        weights += 16;
        ETCH_AVX2_UNROLL
        for (unsigned r = 0; r < kRows; ++r)
            sums[r] = add(sums[r], mul(all(a[r * a_stride]), w));
        ++a;
    }
}

template <unsigned kRows>
ETCH_AVX2_INLINE void tile_f32(const MatmulF32& m, std::uint32_t row, const PanelColumns& columns, const float* weights,
                               Floats bias) noexcept {
    Floats y[kRows];
    multiply_tile_f32<kRows>(m.a + row * m.a_stride, m.a_stride, weights, m.k, y);
    ETCH_AVX2_UNROLL
    for (unsigned r = 0; r < kRows; ++r) {
        if (m.row_scales != nullptr) y[r] = mul(y[r], all(m.row_scales[row + r]));
        y[r] = add(y[r], bias);
    }
    finish_tile<kRows>(m, row, columns, y);
}

void matmul_f32_4x16(const MatmulF32& m, std::uint32_t first_panel, std::uint32_t last_panel) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCountAvx2, kCountMatmulF32);
    for (std::uint32_t panel = first_panel; panel < last_panel; ++panel) {
        const PanelColumns columns(panel, m.n);
        const float* weights = m.weights + std::size_t{panel} * m.k * 16;
        const Floats bias = columns.load(m.bias, 0.0f);
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
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
