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
inline namespace ETCH_ABI_NAMESPACE {
namespace avx2 {
namespace {

ETCH_AVX2_INLINE float largest_magnitude(const float* x, std::uint32_t n) noexcept {
    Floats largest = all(0.0f);
    for_each_16(n, [&](std::uint32_t i, auto lanes) noexcept { largest = max(absolute(lanes.load(x + i)), largest); });
    return largest_of(largest);
}

// 127 / largest; 0 for a row that is quantized to zeros.
ETCH_AVX2_INLINE float quantizing_factor(float largest) noexcept {
    return largest < polynomials::kLeastMaximum ? 0.0f : 127.0f / largest;
}

ETCH_AVX2_INLINE float scale_of(float largest) noexcept {
    return largest < polynomials::kLeastMaximum ? 0.0f : largest * polynomials::kInverse127;
}

// rne(x) as int16, in each 128-bit lane 4 values of the lower and then 4 of the upper half: 0-3, 8-11 | 4-7, 12-15.
ETCH_AVX2_INLINE __m256i round_to_words(Floats x) noexcept {
    return _mm256_packs_epi32(_mm256_cvtps_epi32(x.low), _mm256_cvtps_epi32(x.high));
}

// Encodes n values rne(x * factor).
ETCH_AVX2_INLINE void encode_row(const float* x, std::uint32_t n, float factor, std::uint8_t* encoded) noexcept {
    const __m256i order = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
    for_each_16(n, [&](std::uint32_t i, auto lanes) noexcept {
        const __m256i words = round_to_words(mul(lanes.load(x + i), all(factor)));
        const __m256i bytes = _mm256_packs_epi16(_mm256_srai_epi16(words, 15), _mm256_abs_epi16(words));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(encoded + std::size_t{2} * i),
                            _mm256_permutevar8x32_epi32(bytes, order));
    });
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
    const float factor = quantizing_factor(largest);
    for_each_16(n, [&](std::uint32_t i, auto lanes) noexcept {
        const __m256i words = round_to_words(mul(lanes.load(x + i), all(factor)));
        const __m256i in_order = _mm256_permute4x64_epi64(words, 0xD8);
        const __m128i bytes = _mm_packs_epi16(_mm256_castsi256_si128(in_order), _mm256_extracti128_si256(in_order, 1));
        if (n - i >= 16) {
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
    Floats sum = all(0.0f);
    for_each_16(n, [&](std::uint32_t i, auto lanes) noexcept { sum = add(sum, lanes.load(x + i)); });
    const Floats mean = all(tree_sum(sum) * inverse_n);

    Floats squares = all(0.0f);
    for_each_16(n, [&](std::uint32_t i, auto lanes) noexcept {
        const Floats d = lanes.keep(sub(lanes.load(x + i), mean));
        squares = add(squares, mul(d, d));
    });
    const float variance = tree_sum(squares) * inverse_n;

    const float root = _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(variance + epsilon)));
    const Floats r = all(1.0f / root);
    for_each_16(n, [&](std::uint32_t i, auto lanes) noexcept {
        const Floats d = sub(lanes.load(x + i), mean);
        lanes.store(x + i, add(mul(mul(d, r), lanes.load(gamma + i)), lanes.load(beta + i)));
    });
}

float exp2_row(float* t, std::uint32_t n) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCountAvx2, kCountExp2Row);
    Floats largest = all(t[0]);
    for_each_16(n, [&](std::uint32_t i, auto lanes) noexcept {
        largest = max(lanes.keep_or(lanes.load(t + i), largest), largest);
    });
    const Floats subtrahend = all(largest_of(largest));

    Floats sum = all(0.0f);
    for_each_16(n, [&](std::uint32_t i, auto lanes) noexcept {
        const Floats e = lanes.keep(exp2(sub(lanes.load(t + i), subtrahend)));
        lanes.store(t + i, e);
        sum = add(sum, e);
    });
    return tree_sum(sum);
}

float quantize_probabilities(float* e, const float* value_scales, std::uint32_t n, std::uint8_t* encoded) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCountAvx2, kCountQuantizeProbabilities);
    Floats largest = all(0.0f);
    for_each_16(n, [&](std::uint32_t i, auto lanes) noexcept {
        const Floats w = mul(lanes.load(e + i), lanes.load(value_scales + i));
        lanes.store(e + i, w);
        largest = max(w, largest);
    });
    encode_row(e, n, quantizing_factor(largest_of(largest)), encoded);
    return largest_of(largest);
}

}  // namespace
}  // namespace avx2
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
