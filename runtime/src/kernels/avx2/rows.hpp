// SPDX-License-Identifier: Apache-2.0
// Operations along one row of f32: n consecutive floats, any alignment, any n >= 1. Included by avx2.cpp only.
//
// The set's encoding of a quantized row, what matmul_s8 reads: groups of 8 bytes, each 4 sign masks (-1 for a negative
// value, else 0) followed by the 4 magnitudes; zeros up to a multiple of kEncodedPadding values.
#pragma once

#include <cstddef>

#include "../call_count.hpp"
#include "activation.hpp"
#include "vectors.hpp"

namespace etch {
inline namespace abi1 {
namespace avx2 {
namespace {

float largest_magnitude(const float* x, std::uint32_t n) noexcept {
    __m256 low_max = _mm256_setzero_ps();
    __m256 high_max = _mm256_setzero_ps();
    for_each_16(n, [&](std::uint32_t i, auto low, auto high) noexcept {
        low_max = _mm256_max_ps(absolute(low.load(x + i)), low_max);
        high_max = _mm256_max_ps(absolute(high.load(x + i + 8)), high_max);
    });
    return largest_of(low_max, high_max);
}

inline __m256i round_to_int(__m256 x, __m256 factor) noexcept {
    return _mm256_cvtps_epi32(_mm256_mul_ps(x, factor));
}

// Encodes n values rne(x * factor).
void encode_row(const float* x, std::uint32_t n, float factor, std::uint8_t* encoded) noexcept {
    const __m256 factors = _mm256_set1_ps(factor);
    const __m256i order = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
    for_each_16(n, [&](std::uint32_t i, auto low, auto high) noexcept {
        const __m256i low_q = round_to_int(low.load(x + i), factors);
        const __m256i high_q = round_to_int(high.load(x + i + 8), factors);
        // Per 128-bit lane: values 0-3 and 8-11, or 4-7 and 12-15; then their signs and magnitudes as bytes.
        const __m256i words = _mm256_packs_epi32(low_q, high_q);
        const __m256i signs = _mm256_srai_epi16(words, 15);
        const __m256i bytes = _mm256_packs_epi16(signs, _mm256_abs_epi16(words));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(encoded + std::size_t{2} * i),
                            _mm256_permutevar8x32_epi32(bytes, order));
    });
}

// 127 / largest; 0 for a row that is quantized to zeros.
inline float quantizing_factor(float largest) noexcept {
    return largest < polynomials::kLeastMaximum ? 0.0f : 127.0f / largest;
}

inline float scale_of(float largest) noexcept {
    return largest < polynomials::kLeastMaximum ? 0.0f : largest * polynomials::kInverse127;
}

float quantize_row(const float* x, std::uint32_t n, std::uint8_t* encoded) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCountAvx2, kCountQuantizeRow);
    const float largest = largest_magnitude(x, n);
    encode_row(x, n, quantizing_factor(largest), encoded);
    return scale_of(largest);
}

float quantize_row_s8(const float* x, std::uint32_t n, std::int8_t* q) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCountAvx2, kCountQuantizeRowS8);
    const float largest = largest_magnitude(x, n);
    const __m256 factors = _mm256_set1_ps(quantizing_factor(largest));
    for_each_16(n, [&](std::uint32_t i, auto low, auto high) noexcept {
        const __m256i low_q = round_to_int(low.load(x + i), factors);
        const __m256i high_q = round_to_int(high.load(x + i + 8), factors);
        const __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(low_q, high_q), 0xD8);
        const __m128i bytes = _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
        if (i + 16 <= n) {
            _mm_storeu_si128(reinterpret_cast<__m128i*>(q + i), bytes);
        } else {
            alignas(16) std::int8_t last[16];
            _mm_store_si128(reinterpret_cast<__m128i*>(last), bytes);
            for (std::uint32_t j = i; j < n; ++j)
                q[j] = last[j - i];
        }
    });
    return scale_of(largest);
}

void layer_norm_row(float* x, std::uint32_t n, const float* gamma, const float* beta, float epsilon,
                    float inverse_n) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCountAvx2, kCountLayerNormRow);
    RowSum sum;
    for_each_16(n, [&](std::uint32_t i, auto low, auto high) noexcept {
        sum.low = _mm256_add_ps(sum.low, low.load(x + i));
        sum.high = _mm256_add_ps(sum.high, high.load(x + i + 8));
    });
    const __m256 mean = _mm256_set1_ps(sum.total() * inverse_n);

    RowSum squares;
    for_each_16(n, [&](std::uint32_t i, auto low, auto high) noexcept {
        const __m256 low_d = low.keep(_mm256_sub_ps(low.load(x + i), mean));
        const __m256 high_d = high.keep(_mm256_sub_ps(high.load(x + i + 8), mean));
        squares.low = _mm256_add_ps(squares.low, _mm256_mul_ps(low_d, low_d));
        squares.high = _mm256_add_ps(squares.high, _mm256_mul_ps(high_d, high_d));
    });
    const float variance = squares.total() * inverse_n;

    const float root = _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(variance + epsilon)));
    const __m256 r = _mm256_set1_ps(1.0f / root);
    const auto normalize = [&](std::uint32_t i, auto lanes) noexcept {
        const __m256 d = _mm256_sub_ps(lanes.load(x + i), mean);
        const __m256 scaled = _mm256_mul_ps(_mm256_mul_ps(d, r), lanes.load(gamma + i));
        lanes.store(x + i, _mm256_add_ps(scaled, lanes.load(beta + i)));
    };
    for_each_16(n, [&](std::uint32_t i, auto low, auto high) noexcept {
        normalize(i, low);
        normalize(i + 8, high);
    });
}

float exp2_row(float* t, std::uint32_t n) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCountAvx2, kCountExp2Row);
    __m256 low_max = _mm256_set1_ps(t[0]);
    __m256 high_max = low_max;
    for_each_16(n, [&](std::uint32_t i, auto low, auto high) noexcept {
        low_max = _mm256_max_ps(low.keep_or(low.load(t + i), low_max), low_max);
        high_max = _mm256_max_ps(high.keep_or(high.load(t + i + 8), high_max), high_max);
    });
    const __m256 largest = _mm256_set1_ps(largest_of(low_max, high_max));

    RowSum sum;
    for_each_16(n, [&](std::uint32_t i, auto low, auto high) noexcept {
        const __m256 low_e = low.keep(exp2(_mm256_sub_ps(low.load(t + i), largest)));
        const __m256 high_e = high.keep(exp2(_mm256_sub_ps(high.load(t + i + 8), largest)));
        low.store(t + i, low_e);
        high.store(t + i + 8, high_e);
        sum.low = _mm256_add_ps(sum.low, low_e);
        sum.high = _mm256_add_ps(sum.high, high_e);
    });
    return sum.total();
}

float quantize_probabilities(float* e, const float* value_scales, std::uint32_t n, std::uint8_t* encoded) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCountAvx2, kCountQuantizeProbabilities);
    __m256 low_max = _mm256_setzero_ps();
    __m256 high_max = _mm256_setzero_ps();
    for_each_16(n, [&](std::uint32_t i, auto low, auto high) noexcept {
        const __m256 low_w = _mm256_mul_ps(low.load(e + i), low.load(value_scales + i));
        const __m256 high_w = _mm256_mul_ps(high.load(e + i + 8), high.load(value_scales + i + 8));
        low.store(e + i, low_w);
        high.store(e + i + 8, high_w);
        low_max = _mm256_max_ps(low_w, low_max);
        high_max = _mm256_max_ps(high_w, high_max);
    });
    const float largest = largest_of(low_max, high_max);
    encode_row(e, n, quantizing_factor(largest), encoded);
    return largest;
}

}  // namespace
}  // namespace avx2
}  // namespace abi1
}  // namespace etch
