// SPDX-License-Identifier: Apache-2.0
// matmul_f32_6x16: f32 x f32 -> f32, tiles of 6 rows x 16 columns, the whole K in registers, in the order of k with a
// separate multiplication and addition. Included by avx512_vnni.cpp only.
//
// a       [rows][k], row stride a_stride floats, any alignment.
// weights [n][k] f32 in Packing::panel, made by codegen/pack.py or by the Pack ops for keys and values; any alignment.
// out     [rows][n] f32, row stride out_stride floats; columns from n on are not touched. residual may be out.
// Any rows (tails of 1 to 5 rows have their own tiles), any n (panel by panel; the last one is stored by mask), any k.
// With both an activation and a residual, one row at a time.
//
// An addition takes 3 or 4 cycles: 6 sums keep the adders busy. Measured slower on Zen 4: tiles of 32 columns by 20 %,
// of 64 by 5 %.
#pragma once

#include <cstddef>

#include "../call_count.hpp"
#include "../kernel_set.hpp"
#include "epilogue.hpp"
#include "vectors.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace avx512_vnni {
namespace {

template <unsigned kRows, unsigned kPanels>
ETCH_AVX512_INLINE void multiply_tile_f32(const float* a, std::size_t a_stride, const float* weights,
                                          std::size_t panel_elements, std::uint32_t k,
                                          Floats (&sums)[kRows][kPanels]) noexcept {
    for (std::uint32_t i = 0; i < k; ++i) {
        Floats w[kPanels];
        ETCH_AVX512_UNROLL
        for (unsigned p = 0; p < kPanels; ++p)
            w[p] = load(weights + p * panel_elements);
        weights += 16;
        ETCH_AVX512_UNROLL
        for (unsigned r = 0; r < kRows; ++r) {
            const Floats one = all(a[r * a_stride]);
            ETCH_AVX512_UNROLL
            for (unsigned p = 0; p < kPanels; ++p)
                sums[r][p] = add(sums[r][p], mul(one, w[p]));
        }
        ++a;
    }
}

template <unsigned kPanels>
struct TileF32 {
    template <unsigned kRows>
    static ETCH_AVX512_NOINLINE void run(const MatmulF32& m, const Columns<kPanels>& columns, const float* weights,
                                         std::uint32_t row) noexcept {
        Floats y[kRows][kPanels];
        ETCH_AVX512_UNROLL
        for (unsigned r = 0; r < kRows; ++r) {
            ETCH_AVX512_UNROLL
            for (unsigned p = 0; p < kPanels; ++p)
                y[r][p] = all(0.0f);
        }
        multiply_tile_f32<kRows, kPanels>(m.a + row * m.a_stride, m.a_stride, weights, std::size_t{m.k} * 16, m.k, y);
        ETCH_AVX512_UNROLL
        for (unsigned p = 0; p < kPanels; ++p) {
            const Floats bias = columns.load(m.bias, 0.0f, p);
            ETCH_AVX512_UNROLL
            for (unsigned r = 0; r < kRows; ++r) {
                if (m.row_scales != nullptr) y[r][p] = mul(y[r][p], all(m.row_scales[row + r]));
                y[r][p] = add(y[r][p], bias);
            }
        }
        finish_tile<kRows, kPanels>(m, row, columns, y);
    }
};

struct GroupF32 {
    template <unsigned kPanels>
    static ETCH_AVX512_NOINLINE void run(const MatmulF32& m, std::uint32_t panel) noexcept {
        const float* weights = m.weights + std::size_t{panel} * m.k * 16;
        for_each_tile<TileF32<kPanels>>(m, Columns<kPanels>::of(panel, m.n), weights);
    }
};

void matmul_f32_6x16(const MatmulF32& m, std::uint32_t first_panel, std::uint32_t last_panel) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCountAvx512Vnni, kCountMatmulF32);
    for_each_group<1, GroupF32>(m, first_panel, last_panel);
}

}  // namespace
}  // namespace avx512_vnni
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
