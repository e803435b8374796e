// SPDX-License-Identifier: Apache-2.0
// Operations along one row of f32: n consecutive floats, any alignment, any n >= 1. Included by avx512_vnni.cpp only.
//
// The set's encoding of a quantized row, what matmul_s8 reads: one byte a value, u8 = q + 128 (vpdpbusd multiplies
// unsigned by signed bytes); 128, which is zero, up to a multiple of kEncodedPadding values.
#pragma once

#include <cstddef>

#include "../call_count.hpp"
#include "activation.hpp"
#include "vectors.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace avx512_vnni {
namespace {

ETCH_AVX512_INLINE float largest_magnitude(const float* x, std::uint32_t n) noexcept {
    Floats largest = all(0.0f);
    for_each_16(n, [&](std::uint32_t i, auto lanes) noexcept { largest = max(absolute(lanes.load(x + i)), largest); });
    return largest_of(largest);
}

// 127 / largest; 0 for a row that is quantized to zeros.
ETCH_AVX512_INLINE float quantizing_factor(float largest) noexcept {
    return largest < polynomials::kLeastMaximum ? 0.0f : 127.0f / largest;
}

ETCH_AVX512_INLINE float scale_of(float largest) noexcept {
    return largest < polynomials::kLeastMaximum ? 0.0f : largest * polynomials::kInverse127;
}

// rne(x), |x| <= 127.
ETCH_AVX512_INLINE __m128i round_to_bytes(Floats x) noexcept {
    return _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(x.lanes));
}

// Encodes n values rne(x * factor).
ETCH_AVX512_INLINE void encode_row(const float* x, std::uint32_t n, float factor, std::uint8_t* encoded) noexcept {
    const __m128i offset = _mm_set1_epi8(-128);
    for_each_16(n, [&](std::uint32_t i, auto lanes) noexcept {
        const __m128i bytes = round_to_bytes(mul(lanes.load(x + i), all(factor)));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(encoded + i), _mm_xor_si128(bytes, offset));
    });
}

float quantize_row(const float* x, std::uint32_t n, std::uint8_t* encoded) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCountAvx512Vnni, kCountQuantizeRow);
    const float largest = largest_magnitude(x, n);
    encode_row(x, n, quantizing_factor(largest), encoded);
    return scale_of(largest);
}

float quantize_row_s8(const float* x, std::uint32_t n, std::int8_t* q) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCountAvx512Vnni, kCountQuantizeRowS8);
    const float largest = largest_magnitude(x, n);
    const float factor = quantizing_factor(largest);
    for_each_16(n, [&](std::uint32_t i, auto lanes) noexcept {
        lanes.store_bytes(q + i, round_to_bytes(mul(lanes.load(x + i), all(factor))));
    });
    return scale_of(largest);
}

void layer_norm_row(float* x, std::uint32_t n, const float* gamma, const float* beta, float epsilon,
                    float inverse_n) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCountAvx512Vnni, kCountLayerNormRow);
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
    ETCH_COUNT_KERNEL_CALL(kCountAvx512Vnni, kCountExp2Row);
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
    ETCH_COUNT_KERNEL_CALL(kCountAvx512Vnni, kCountQuantizeProbabilities);
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
}  // namespace avx512_vnni
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
