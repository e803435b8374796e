// SPDX-License-Identifier: Apache-2.0
// The sequences of polynomials.hpp on 16 floats at a time. Included by avx512_vnni.cpp only.
#pragma once

#include "../call_count.hpp"
#include "../polynomials.hpp"
#include "etch/ops/activation.hpp"
#include "vectors.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace avx512_vnni {
namespace {

template <unsigned kCount>
ETCH_AVX512_INLINE Floats horner(const float (&coefficients)[kCount], Floats x) noexcept {
    Floats result = all(coefficients[kCount - 1]);
    ETCH_AVX512_UNROLL
    for (unsigned i = 1; i < kCount; ++i)
        result = add(mul(result, x), all(coefficients[kCount - 1 - i]));
    return result;
}

// x <= 0.
ETCH_AVX512_INLINE Floats exp2(Floats x) noexcept {
    const Floats shifter = all(polynomials::kShifter);
    const Floats shifted = add(x, shifter);
    const Floats p = horner(polynomials::kExp2, sub(x, sub(shifted, shifter)));
    const __m512i exponent = _mm512_slli_epi32(_mm512_castps_si512(shifted.lanes), 23);
    const Floats scaled = {_mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(p.lanes), exponent))};
    return clear(less(x, all(polynomials::kExp2Least)), scaled);
}

ETCH_AVX512_INLINE Floats erf(Floats x) noexcept {
    const Floats z = min(absolute(x), all(polynomials::kErfLimit));
    const Floats e = exp2(mul(z, horner(polynomials::kErf, z)));
    return with_sign_of(sub(all(1.0f), e), x);
}

// 1 <= y <= 2.
ETCH_AVX512_INLINE Floats reciprocal(Floats y) noexcept {
    Floats r = horner(polynomials::kReciprocal, y);
    r = mul(r, sub(all(2.0f), mul(y, r)));
    return mul(r, sub(all(2.0f), mul(y, r)));
}

ETCH_AVX512_INLINE Floats sigmoid(Floats x) noexcept {
    const Floats e = exp2(mul(absolute(x), all(polynomials::kMinusLog2E)));
    const Floats r = reciprocal(add(all(1.0f), e));
    return select(less(x, all(0.0f)), mul(e, r), r);
}

ETCH_AVX512_INLINE Floats tanh(Floats x) noexcept {
    const Floats e = exp2(mul(absolute(x), all(polynomials::kMinusTwoLog2E)));
    return with_sign_of(mul(sub(all(1.0f), e), reciprocal(add(all(1.0f), e))), x);
}

ETCH_AVX512_INLINE Floats relu(Floats x) noexcept {
    return max(x, all(0.0f));
}

ETCH_AVX512_INLINE Floats gelu(Floats x) noexcept {
    return mul(mul(x, all(0.5f)), add(all(1.0f), erf(mul(x, all(polynomials::kSqrtHalf)))));
}

ETCH_AVX512_INLINE Floats gelu_tanh(Floats x) noexcept {
    const Floats cubic = mul(all(polynomials::kGeluTanh3), mul(x, x));
    return mul(x, sigmoid(mul(x, add(all(polynomials::kGeluTanh1), cubic))));
}

ETCH_AVX512_INLINE Floats quick_gelu(Floats x) noexcept {
    return mul(x, sigmoid(mul(all(polynomials::kQuickGelu), x)));
}

ETCH_AVX512_INLINE Floats silu(Floats x) noexcept {
    return mul(x, sigmoid(x));
}

template <Floats (*kFunction)(Floats) noexcept>
ETCH_AVX512_INLINE void map(float* x, std::uint32_t n) noexcept {
    for_each_16(n, [x](std::uint32_t i, auto lanes) noexcept { lanes.store(x + i, kFunction(lanes.load(x + i))); });
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
    ETCH_COUNT_KERNEL_CALL(kCountAvx512Vnni, kCountActivateRow);
    apply_activation(activation, x, n);
}

}  // namespace
}  // namespace avx512_vnni
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
