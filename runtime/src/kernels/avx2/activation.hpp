// SPDX-License-Identifier: Apache-2.0
// The sequences of polynomials.hpp on 8 floats at a time. Included by avx2.cpp only.
#pragma once

#include "../call_count.hpp"
#include "../polynomials.hpp"
#include "etch/ops/activation.hpp"
#include "vectors.hpp"

namespace etch {
inline namespace abi1 {
namespace avx2 {
namespace {

template <unsigned kCount>
inline __m256 horner(const float (&coefficients)[kCount], __m256 x) noexcept {
    __m256 result = _mm256_set1_ps(coefficients[kCount - 1]);
    ETCH_AVX2_UNROLL
    for (unsigned i = 1; i < kCount; ++i) {
        result = _mm256_add_ps(_mm256_mul_ps(result, x), _mm256_set1_ps(coefficients[kCount - 1 - i]));
    }
    return result;
}

// x <= 0.
inline __m256 exp2(__m256 x) noexcept {
    const __m256 shifter = _mm256_set1_ps(polynomials::kShifter);
    const __m256 shifted = _mm256_add_ps(x, shifter);
    const __m256 fraction = _mm256_sub_ps(x, _mm256_sub_ps(shifted, shifter));
    const __m256i p = _mm256_castps_si256(horner(polynomials::kExp2, fraction));
    const __m256i scaled = _mm256_add_epi32(p, _mm256_slli_epi32(_mm256_castps_si256(shifted), 23));
    const __m256 vanishes = _mm256_cmp_ps(x, _mm256_set1_ps(polynomials::kExp2Least), _CMP_LT_OQ);
    return _mm256_andnot_ps(vanishes, _mm256_castsi256_ps(scaled));
}

inline __m256 erf(__m256 x) noexcept {
    const __m256 z = _mm256_min_ps(absolute(x), _mm256_set1_ps(polynomials::kErfLimit));
    const __m256 e = exp2(_mm256_mul_ps(z, horner(polynomials::kErf, z)));
    return with_sign_of(_mm256_sub_ps(_mm256_set1_ps(1.0f), e), x);
}

// 1 <= y <= 2.
inline __m256 reciprocal(__m256 y) noexcept {
    const __m256 two = _mm256_set1_ps(2.0f);
    __m256 r = horner(polynomials::kReciprocal, y);
    r = _mm256_mul_ps(r, _mm256_sub_ps(two, _mm256_mul_ps(y, r)));
    return _mm256_mul_ps(r, _mm256_sub_ps(two, _mm256_mul_ps(y, r)));
}

inline __m256 sigmoid(__m256 x) noexcept {
    const __m256 e = exp2(_mm256_mul_ps(absolute(x), _mm256_set1_ps(polynomials::kMinusLog2E)));
    const __m256 r = reciprocal(_mm256_add_ps(_mm256_set1_ps(1.0f), e));
    return _mm256_blendv_ps(r, _mm256_mul_ps(e, r), _mm256_cmp_ps(x, _mm256_setzero_ps(), _CMP_LT_OQ));
}

inline __m256 tanh(__m256 x) noexcept {
    const __m256 one = _mm256_set1_ps(1.0f);
    const __m256 e = exp2(_mm256_mul_ps(absolute(x), _mm256_set1_ps(polynomials::kMinusTwoLog2E)));
    return with_sign_of(_mm256_mul_ps(_mm256_sub_ps(one, e), reciprocal(_mm256_add_ps(one, e))), x);
}

inline __m256 relu(__m256 x) noexcept {
    return _mm256_max_ps(x, _mm256_setzero_ps());
}

inline __m256 gelu(__m256 x) noexcept {
    const __m256 e = erf(_mm256_mul_ps(x, _mm256_set1_ps(polynomials::kSqrtHalf)));
    return _mm256_mul_ps(_mm256_mul_ps(x, _mm256_set1_ps(0.5f)), _mm256_add_ps(_mm256_set1_ps(1.0f), e));
}

inline __m256 gelu_tanh(__m256 x) noexcept {
    const __m256 cubic = _mm256_mul_ps(_mm256_set1_ps(polynomials::kGeluTanh3), _mm256_mul_ps(x, x));
    const __m256 u = _mm256_mul_ps(x, _mm256_add_ps(_mm256_set1_ps(polynomials::kGeluTanh1), cubic));
    return _mm256_mul_ps(x, sigmoid(u));
}

inline __m256 quick_gelu(__m256 x) noexcept {
    return _mm256_mul_ps(x, sigmoid(_mm256_mul_ps(_mm256_set1_ps(polynomials::kQuickGelu), x)));
}

inline __m256 silu(__m256 x) noexcept {
    return _mm256_mul_ps(x, sigmoid(x));
}

// Vectors in memory, any alignment. The loop stays rolled: the CPU overlaps its independent turns.
template <__m256 (*kFunction)(__m256) noexcept>
inline void map(float* x, std::uint32_t n) noexcept {
    std::uint32_t i = 0;
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(x + i, kFunction(_mm256_loadu_ps(x + i)));
    if (i < n) {
        const Part part(static_cast<std::int32_t>(n - i));
        part.store(x + i, kFunction(part.load(x + i)));
    }
}

// x[i] = activation(x[i]), i < n.
void apply_activation(Activation activation, float* x, std::uint32_t n) noexcept {
    switch (activation) {
        case Activation::none:
            return;
        case Activation::relu:
            return map<relu>(x, n);
        case Activation::gelu:
            return map<gelu>(x, n);
        case Activation::gelu_tanh:
            return map<gelu_tanh>(x, n);
        case Activation::quick_gelu:
            return map<quick_gelu>(x, n);
        case Activation::silu:
            return map<silu>(x, n);
        case Activation::tanh:
            return map<tanh>(x, n);
        case Activation::sigmoid:
            return map<sigmoid>(x, n);
    }
}

void activate_row(Activation activation, float* x, std::uint32_t n) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCountAvx2, kCountActivateRow);
    apply_activation(activation, x, n);
}

}  // namespace
}  // namespace avx2
}  // namespace abi1
}  // namespace etch
