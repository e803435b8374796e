// SPDX-License-Identifier: Apache-2.0
// matmul_s8_6x64: s8 x s8 -> s32 -> f32, tiles of 6 rows x 64 columns, the whole K in registers. Included by
// avx512_vnni.cpp only.
//
// a       [rows][k] as rows.hpp encodes it: u8 = q + 128, 128 up to a multiple of kEncodedPadding values; row stride in
//         bytes, any alignment.
// weights [n][k] s8 in Packing::panel, made by codegen/pack.py or by the Pack ops for keys and values; zeros up to a
//         multiple of 4 k; any alignment.
// out     [rows][n] f32, row stride out_stride floats; columns from n on are not touched. residual may be out.
// Any rows (tails of 1 to 5 rows have their own tiles), any n (groups of 4 panels, then 2, then 1; the last panel is
// stored by mask), any k up to 65,536. With both an activation and a residual, one row at a time.
//
// A panel's 4 k x 16 columns are one register, vpdpbusd multiplies them by 4 bytes of a, broadcast, and adds the four
// products to int32, which wraps and does not saturate. 24 sums, 4 registers of weights and one of a leave 3 of the 32
// unused; per 24 multiplications 4 loads and 6 broadcasts. The 128 that the encoding adds contributes 128 * sum of w to
// a column: the sums begin at minus that, which one pass over the group's weights finds for all rows, bringing the
// weights to the first row tile on its way.
#pragma once

#include <cstddef>
#include <cstring>

#include "../call_count.hpp"
#include "../kernel_set.hpp"
#include "epilogue.hpp"
#include "vectors.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace avx512_vnni {
namespace {

ETCH_AVX512_INLINE __m512i broadcast_4_bytes(const std::uint8_t* p) noexcept {
    std::int32_t bytes;
    std::memcpy(&bytes, p, sizeof bytes);
    return _mm512_set1_epi32(bytes);
}

ETCH_AVX512_INLINE __m512i load_weights(const std::int8_t* p) noexcept {
    return _mm512_loadu_si512(p);
}

// Where the sums of the columns of kPanels panels begin: -128 * (sum over k of w).
template <unsigned kPanels>
ETCH_AVX512_INLINE void first_sums(const std::int8_t* weights, std::uint32_t groups, std::size_t panel_bytes,
                                   std::int32_t (&sums)[kPanels * 16]) noexcept {
    const __m512i offset = _mm512_set1_epi8(-128);  // u8 128
    __m512i totals[kPanels];
    ETCH_AVX512_UNROLL
    for (unsigned p = 0; p < kPanels; ++p)
        totals[p] = _mm512_setzero_si512();
    for (std::uint32_t g = 0; g < groups; ++g) {
        ETCH_AVX512_UNROLL
        for (unsigned p = 0; p < kPanels; ++p) {
            totals[p] = _mm512_dpbusd_epi32(totals[p], offset, load_weights(weights + p * panel_bytes));
        }
        weights += 64;
    }
    ETCH_AVX512_UNROLL
    for (unsigned p = 0; p < kPanels; ++p) {
        asm("" : "+v"(totals[p]));
        _mm512_store_si512(sums + p * 16, _mm512_sub_epi32(_mm512_setzero_si512(), totals[p]));
    }
}

// kRows rows of a from `a` on by kPanels panels of weights; `sums` holds the first sums and then all.
template <unsigned kRows, unsigned kPanels>
ETCH_AVX512_INLINE void multiply_tile_s8(const std::uint8_t* a, std::size_t a_stride, const std::int8_t* weights,
                                         std::size_t panel_bytes, std::uint32_t groups,
                                         __m512i (&sums)[kRows][kPanels]) noexcept {
    for (std::uint32_t g = 0; g < groups; ++g) {
        __m512i w[kPanels];
        ETCH_AVX512_UNROLL
        for (unsigned p = 0; p < kPanels; ++p)
            w[p] = load_weights(weights + p * panel_bytes);
        weights += 64;
        ETCH_AVX512_UNROLL
        for (unsigned r = 0; r < kRows; ++r) {
            const __m512i four = broadcast_4_bytes(a + r * a_stride);
            ETCH_AVX512_UNROLL
            for (unsigned p = 0; p < kPanels; ++p)
                sums[r][p] = _mm512_dpbusd_epi32(sums[r][p], four, w[p]);
        }
        a += 4;
    }
    // GCC 12 otherwise keeps the sums elsewhere than the conversion to float wants them and moves or spills them on
    // every turn of the loop.
    ETCH_AVX512_UNROLL
    for (unsigned r = 0; r < kRows; ++r) {
        ETCH_AVX512_UNROLL
        for (unsigned p = 0; p < kPanels; ++p)
            asm("" : "+v"(sums[r][p]));
    }
}

template <unsigned kPanels>
struct TileS8 {
    template <unsigned kRows>
    static ETCH_AVX512_NOINLINE void run(const MatmulS8& m, const Columns<kPanels>& columns, const std::int8_t* weights,
                                         const std::int32_t (&first)[kPanels * 16], std::uint32_t row) noexcept {
        const std::uint32_t groups = (m.k + 3) / 4;
        __m512i sums[kRows][kPanels];
        ETCH_AVX512_UNROLL
        for (unsigned p = 0; p < kPanels; ++p) {
            const __m512i begin = _mm512_load_si512(first + p * 16);
            ETCH_AVX512_UNROLL
            for (unsigned r = 0; r < kRows; ++r)
                sums[r][p] = begin;
        }
        multiply_tile_s8<kRows, kPanels>(m.a.data + row * m.a.stride_bytes, m.a.stride_bytes, weights,
                                         std::size_t{groups} * 64, groups, sums);
        Floats y[kRows][kPanels];
        ETCH_AVX512_UNROLL
        for (unsigned p = 0; p < kPanels; ++p) {
            const Floats scales = columns.load(m.column_scales, 1.0f, p);
            const Floats bias = columns.load(m.bias, 0.0f, p);
            ETCH_AVX512_UNROLL
            for (unsigned r = 0; r < kRows; ++r) {
                const Floats sum = {_mm512_cvtepi32_ps(sums[r][p])};
                y[r][p] = add(mul(mul(sum, all(m.a.scales[row + r])), scales), bias);
            }
        }
        finish_tile<kRows, kPanels>(m, row, columns, y);
    }
};

struct GroupS8 {
    template <unsigned kPanels>
    static ETCH_AVX512_NOINLINE void run(const MatmulS8& m, std::uint32_t panel) noexcept {
        const std::uint32_t groups = (m.k + 3) / 4;
        const std::size_t panel_bytes = std::size_t{groups} * 64;
        const std::int8_t* weights = m.weights + panel * panel_bytes;
        alignas(64) std::int32_t first[kPanels * 16];
        first_sums<kPanels>(weights, groups, panel_bytes, first);
        for_each_tile<TileS8<kPanels>>(m, Columns<kPanels>::of(panel, m.n), weights, first);
    }
};

void matmul_s8_6x64(const MatmulS8& m, std::uint32_t first_panel, std::uint32_t last_panel) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCountAvx512Vnni, kCountMatmulS8);
    const std::uint32_t whole = whole_panels(m.n, last_panel);
    std::uint32_t panel = for_each_group<4, GroupS8>(m, first_panel, whole);
    panel = for_each_group<2, GroupS8>(m, panel, whole);
    for_each_group<1, GroupS8>(m, panel, last_panel);
}

}  // namespace
}  // namespace avx512_vnni
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
