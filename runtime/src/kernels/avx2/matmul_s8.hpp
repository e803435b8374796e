// SPDX-License-Identifier: Apache-2.0
// matmul_s8_4x16: s8 x s8 -> s32 -> f32, tiles of 4 rows x 16 columns, the whole K in registers. Included by avx2.cpp
// only.
//
// a       [rows][k] as rows.hpp encodes it: 8 bytes per 4 values, zeros up to a multiple of kEncodedPadding values; row
//         stride in bytes, any alignment.
// weights [n][k] s8 in Packing::panel, made by codegen/pack.py or by the Pack ops for keys and values; any alignment.
// out     [rows][n] f32, row stride out_stride floats; columns from n on are not touched. residual may be out.
// Any rows (tails of 1 to 3 rows have their own tiles), any n (the last panel is stored by mask), any k.
//
// The products without the sign operation: with s the sign mask of a (0 or -1), a * w = |a| * (w ^ s) + (|a| & s), for
// w ^ -1 = -w - 1. The second term does not depend on the column: its sum over a row is where the row's sums begin.
// Per 4 k and 8 columns: vpxor; vpmaddubsw, which multiplies by |a| and adds pairs (at most 2 * 127 * 128 = 32,512, no
// saturation: |a| <= 127); vpmaddwd by ones, which adds pairs of those to int32; vpaddd. vpsignb would need no second
// term, but runs on the multipliers' ports of Zen 3 and Zen 4, which are the bottleneck (12 cycles a group, not 8).
#pragma once

#include <cstddef>
#include <cstring>

#include "../call_count.hpp"
#include "../kernel_set.hpp"
#include "epilogue.hpp"
#include "vectors.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace avx2 {
namespace {

ETCH_AVX2_INLINE __m256i broadcast_4_bytes(const std::uint8_t* p) noexcept {
    std::int32_t bytes;
    std::memcpy(&bytes, p, sizeof bytes);
    return _mm256_set1_epi32(bytes);
}

// sum += addend per int32 lane. Written as assembly because GCC 12 otherwise adds into another register and moves or
// spills the sums on every turn of the loop.
ETCH_AVX2_INLINE void accumulate(__m256i& sum, __m256i addend) noexcept {
    asm("vpaddd %1, %0, %0" : "+x"(sum) : "x"(addend));
}

// Sum of |a| over the negative values of a row: of (magnitudes & sign masks).
ETCH_AVX2_INLINE std::int32_t sum_of_negatives(const std::uint8_t* a, std::uint32_t k) noexcept {
    __m256i sums = _mm256_setzero_si256();
    for (std::uint32_t i = 0; i < k; i += 16) {
        const __m256i groups = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(a + std::size_t{2} * i));
        const __m256i negatives = _mm256_and_si256(groups, _mm256_srli_epi64(groups, 32));
        sums = _mm256_add_epi32(sums, _mm256_sad_epu8(negatives, _mm256_setzero_si256()));
    }
    const __m128i two = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    return _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_unpackhi_epi64(two, two)));
}

// kRows rows of a from `a` on by one panel of weights.
template <unsigned kRows>
ETCH_AVX2_INLINE void multiply_tile_s8(const std::uint8_t* a, std::size_t a_stride, const std::int32_t* negatives,
                                       const std::int8_t* weights, std::uint32_t groups,
                                       __m256i (&sums)[kRows][2]) noexcept {
    const __m256i ones = _mm256_set1_epi16(1);
    ETCH_AVX2_UNROLL
    for (unsigned r = 0; r < kRows; ++r)
        sums[r][0] = sums[r][1] = _mm256_set1_epi32(negatives[r]);

    for (std::uint32_t g = 0; g < groups; ++g) {
        const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(weights));
        const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(weights + 32));
        weights += 64;
        ETCH_AVX2_UNROLL
        for (unsigned r = 0; r < kRows; ++r) {
            const __m256i signs = broadcast_4_bytes(a + r * a_stride);
            const __m256i magnitudes = broadcast_4_bytes(a + r * a_stride + 4);
            const __m256i low_pairs = _mm256_maddubs_epi16(magnitudes, _mm256_xor_si256(low, signs));
            const __m256i high_pairs = _mm256_maddubs_epi16(magnitudes, _mm256_xor_si256(high, signs));
            accumulate(sums[r][0], _mm256_madd_epi16(low_pairs, ones));
            accumulate(sums[r][1], _mm256_madd_epi16(high_pairs, ones));
        }
        a += 8;
    }
}

template <unsigned kRows>
ETCH_AVX2_INLINE void tile_s8(const MatmulS8& m, std::uint32_t row, const std::int32_t* negatives,
                              const PanelColumns& columns, const std::int8_t* weights, Floats column_scales,
                              Floats bias) noexcept {
    __m256i sums[kRows][2];
    multiply_tile_s8<kRows>(m.a.data + row * m.a.stride_bytes, m.a.stride_bytes, negatives, weights, (m.k + 3) / 4,
                            sums);
    Floats y[kRows];
    ETCH_AVX2_UNROLL
    for (unsigned r = 0; r < kRows; ++r) {
        const Floats sum = {_mm256_cvtepi32_ps(sums[r][0]), _mm256_cvtepi32_ps(sums[r][1])};
        y[r] = add(mul(mul(sum, all(m.a.scales[row + r])), column_scales), bias);
    }
    finish_tile<kRows>(m, row, columns, y);
}

// The hardware follows the weights within a panel, but not from its last row tile to the next panel: 4 to 5 % at 44
// rows.
ETCH_AVX2_INLINE void prefetch(const std::int8_t* weights, std::size_t bytes) noexcept {
    for (std::size_t i = 0; i < bytes; i += 64) {
        _mm_prefetch(reinterpret_cast<const char*>(weights + i), _MM_HINT_T1);
    }
}

// All panels for the rows [first_row, last_row), at most kChunkRows: these stay in L2 while the weights pass by.
constexpr std::uint32_t kChunkRows = 64;

void multiply_chunk_s8(const MatmulS8& m, std::uint32_t first_row, std::uint32_t last_row, std::uint32_t first_panel,
                       std::uint32_t last_panel) noexcept {
    std::int32_t negatives[kChunkRows];
    for (std::uint32_t row = first_row; row < last_row; ++row) {
        negatives[row - first_row] = sum_of_negatives(m.a.data + row * m.a.stride_bytes, m.k);
    }
    const std::size_t panel_bytes = std::size_t{(m.k + 3) / 4} * 64;
    for (std::uint32_t panel = first_panel; panel < last_panel; ++panel) {
        const PanelColumns columns(panel, m.n);
        const std::int8_t* weights = m.weights + panel * panel_bytes;
        const Floats scales = columns.load(m.column_scales, 1.0f);
        const Floats bias = columns.load(m.bias, 0.0f);
        if (panel + 1 < last_panel) prefetch(weights + panel_bytes, panel_bytes);
        const std::int32_t* negative = negatives;
        std::uint32_t row = first_row;
        for (; row + 4 <= last_row; row += 4, negative += 4) {
            tile_s8<4>(m, row, negative, columns, weights, scales, bias);
        }
        switch (last_row - row) {
            case 3:
                tile_s8<3>(m, row, negative, columns, weights, scales, bias);
                break;
            case 2:
                tile_s8<2>(m, row, negative, columns, weights, scales, bias);
                break;
            case 1:
                tile_s8<1>(m, row, negative, columns, weights, scales, bias);
                break;
            default:
                break;
        }
    }
}

void matmul_s8_4x16(const MatmulS8& m, std::uint32_t first_panel, std::uint32_t last_panel) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCountAvx2, kCountMatmulS8);
    for (std::uint32_t row = 0; row < m.rows; row += kChunkRows) {
        const std::uint32_t last = m.rows - row < kChunkRows ? m.rows : row + kChunkRows;
        multiply_chunk_s8(m, row, last, first_panel, last_panel);
    }
}

}  // namespace
}  // namespace avx2
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
