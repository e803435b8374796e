// SPDX-License-Identifier: Apache-2.0
// The functions of polynomials.hpp and log1p, one value at a time: the readable form that every other set reproduces.
#pragma once

#include <cstdint>

#include "../device.hpp"
#include "../polynomials.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace scalar {
namespace {

// Not std::memcpy: where a program is compiled as freestanding, that is a call.
ETCH_DEVICE inline std::uint32_t bits_of(float x) noexcept {
    std::uint32_t bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
}

ETCH_DEVICE inline float from_bits(std::uint32_t bits) noexcept {
    float x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}

ETCH_DEVICE inline float absolute(float x) noexcept {
    return from_bits(bits_of(x) & 0x7FFFFFFFu);
}

ETCH_DEVICE inline float with_sign_of(float magnitude, float x) noexcept {
    return from_bits(bits_of(magnitude) | (bits_of(x) & 0x80000000u));
}

// To the nearest integer, ties to even, for |x| < 2^22.
ETCH_DEVICE inline std::int32_t round_to_int(float x) noexcept {
    const std::uint32_t low = bits_of(x + polynomials::kShifter) - bits_of(polynomials::kShifter);
    std::int32_t rounded;
    __builtin_memcpy(&rounded, &low, sizeof rounded);
    return rounded;
}

template <unsigned kCount>
ETCH_DEVICE inline float horner(const float (&coefficients)[kCount], float x) noexcept {
    float result = coefficients[kCount - 1];
    for (unsigned i = kCount - 1; i-- > 0;)
        result = result * x + coefficients[i];
    return result;
}

// kExp2Least <= x <= 0; any other x gives some bits or other.
ETCH_DEVICE inline float exp2_of_normal(float x) noexcept {
    const float shifted = x + polynomials::kShifter;
    const float fraction = x - (shifted - polynomials::kShifter);
    return from_bits(bits_of(horner(polynomials::kExp2, fraction)) + (bits_of(shifted) << 23));
}

// x <= 0.
ETCH_DEVICE inline float exp2(float x) noexcept {
    return x < polynomials::kExp2Least ? 0.0f : exp2_of_normal(x);
}

// 1 <= y < 2^127.
ETCH_DEVICE inline float log2(float y) noexcept {
    const std::uint32_t exponent = (bits_of(y) - bits_of(polynomials::kSqrtHalf)) >> 23;
    const float fraction = from_bits(bits_of(y) - (exponent << 23)) - 1.0f;
    return static_cast<float>(exponent) + (fraction * horner(polynomials::kLog2, fraction));
}

// log(1 + x), 0 <= x < 2^127, with a relative error below 6e-7. What 1 + x rounds away of x is put back.
ETCH_DEVICE inline float log1p(float x) noexcept {
    const float y = 1.0f + x;
    const float rest = x - (y - 1.0f);
    return (log2(y) * polynomials::kLn2) + (rest / y);
}

ETCH_DEVICE inline float erf(float x) noexcept {
    const float magnitude = absolute(x);
    const float z = magnitude < polynomials::kErfLimit ? magnitude : polynomials::kErfLimit;
    return with_sign_of(1.0f - exp2_of_normal(z * horner(polynomials::kErf, z)), x);
}

// 1 <= y <= 2.
ETCH_DEVICE inline float reciprocal(float y) noexcept {
    float r = horner(polynomials::kReciprocal, y);
    r = r * (2.0f - y * r);
    r = r * (2.0f - y * r);
    return r;
}

ETCH_DEVICE inline float sigmoid(float x) noexcept {
    const float e = exp2(absolute(x) * polynomials::kMinusLog2E);
    const float r = reciprocal(1.0f + e);
    return x < 0.0f ? e * r : r;
}

ETCH_DEVICE inline float tanh(float x) noexcept {
    const float e = exp2(absolute(x) * polynomials::kMinusTwoLog2E);
    return with_sign_of((1.0f - e) * reciprocal(1.0f + e), x);
}

}  // namespace
}  // namespace scalar
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
