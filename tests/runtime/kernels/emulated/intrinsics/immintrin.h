// SPDX-License-Identifier: Apache-2.0
// Stands in for the compiler's header where avx512_vnni.cpp is compiled for CPUs without AVX-512: the intrinsics that
// it uses, by what Intel's guide says of each, on any x86-64.
#pragma once

#include <emmintrin.h>

#include <cmath>
#include <cstdint>
#include <cstring>

typedef float __m256 __attribute__((vector_size(32), may_alias));
typedef float __m512 __attribute__((vector_size(64), may_alias));
typedef long long __m512i __attribute__((vector_size(64), may_alias));
typedef std::uint16_t __mmask16;

#define _CMP_LT_OQ 0x11
#define _CMP_NLT_UQ 0x15

namespace emulated {

#define EMULATED inline __attribute__((always_inline))

typedef std::int32_t Ints __attribute__((vector_size(64), may_alias));
typedef std::uint32_t Bits __attribute__((vector_size(64), may_alias));
typedef std::uint16_t Words __attribute__((vector_size(64), may_alias));

template <class To, class From>
EMULATED To as(From x) {
    static_assert(sizeof(To) == sizeof(From), "a cast of registers keeps their bits");
    To y;
    std::memcpy(&y, &x, sizeof y);
    return y;
}

// Lane by lane.
template <class Vector, class Lane>
EMULATED Vector lanes(Lane lane) {
    Vector y{};
    for (int i = 0; i < 16; ++i)
        y[i] = lane(i);
    return y;
}

EMULATED bool is_set(__mmask16 mask, int i) {
    return (mask >> i & 1) != 0;
}

}  // namespace emulated

EMULATED __m128 _mm_movehdup_ps(__m128 x) {
    return _mm_shuffle_ps(x, x, _MM_SHUFFLE(3, 3, 1, 1));
}
EMULATED __m128 _mm256_castps256_ps128(__m256 x) {
    return __m128{x[0], x[1], x[2], x[3]};
}
EMULATED __m128 _mm256_extractf128_ps(__m256 x, int half) {
    return half == 0 ? _mm256_castps256_ps128(x) : __m128{x[4], x[5], x[6], x[7]};
}
EMULATED __m256 _mm256_add_ps(__m256 x, __m256 y) {
    return x + y;
}
EMULATED __m256 _mm256_max_ps(__m256 x, __m256 y) {
    __m256 z{};
    for (int i = 0; i < 8; ++i)
        z[i] = x[i] > y[i] ? x[i] : y[i];
    return z;
}
EMULATED __m256 _mm512_castps512_ps256(__m512 x) {
    return __m256{x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]};
}
EMULATED __m256 _mm512_extractf32x8_ps(__m512 x, int half) {
    return half == 0 ? _mm512_castps512_ps256(x) : __m256{x[8], x[9], x[10], x[11], x[12], x[13], x[14], x[15]};
}
EMULATED __m512 _mm512_set1_ps(float x) {
    return emulated::lanes<__m512>([&](int) { return x; });
}
EMULATED __m512 _mm512_loadu_ps(const void* p) {
    __m512 x;
    std::memcpy(&x, p, sizeof x);
    return x;
}
EMULATED void _mm512_storeu_ps(void* p, __m512 x) {
    std::memcpy(p, &x, sizeof x);
}
EMULATED __m512 _mm512_add_ps(__m512 x, __m512 y) {
    return x + y;
}
EMULATED __m512 _mm512_sub_ps(__m512 x, __m512 y) {
    return x - y;
}
EMULATED __m512 _mm512_mul_ps(__m512 x, __m512 y) {
    return x * y;
}
EMULATED __m512 _mm512_max_ps(__m512 x, __m512 y) {
    return emulated::lanes<__m512>([&](int i) { return x[i] > y[i] ? x[i] : y[i]; });
}
EMULATED __m512 _mm512_min_ps(__m512 x, __m512 y) {
    return emulated::lanes<__m512>([&](int i) { return x[i] < y[i] ? x[i] : y[i]; });
}
EMULATED __m512 _mm512_andnot_ps(__m512 x, __m512 y) {
    return emulated::as<__m512>(~emulated::as<emulated::Bits>(x) & emulated::as<emulated::Bits>(y));
}
EMULATED __m512 _mm512_and_ps(__m512 x, __m512 y) {
    return emulated::as<__m512>(emulated::as<emulated::Bits>(x) & emulated::as<emulated::Bits>(y));
}
EMULATED __m512 _mm512_or_ps(__m512 x, __m512 y) {
    return emulated::as<__m512>(emulated::as<emulated::Bits>(x) | emulated::as<emulated::Bits>(y));
}
EMULATED __mmask16 _mm512_cmp_ps_mask(__m512 x, __m512 y, int comparison) {
    unsigned mask = 0;
    for (int i = 0; i < 16; ++i) {
        const bool less = x[i] < y[i];
        mask |= (comparison == _CMP_LT_OQ ? less : !less) ? 1u << i : 0u;
    }
    return static_cast<__mmask16>(mask);
}
EMULATED __m512 _mm512_mask_mov_ps(__m512 otherwise, __mmask16 mask, __m512 x) {
    return emulated::lanes<__m512>([&](int i) { return emulated::is_set(mask, i) ? x[i] : otherwise[i]; });
}
EMULATED __m512 _mm512_maskz_mov_ps(__mmask16 mask, __m512 x) {
    return _mm512_mask_mov_ps(__m512{}, mask, x);
}
// Memory of lanes outside the mask is not touched.
EMULATED __m512 _mm512_mask_loadu_ps(__m512 otherwise, __mmask16 mask, const void* p) {
    const float* const values = static_cast<const float*>(p);
    return emulated::lanes<__m512>([&](int i) { return emulated::is_set(mask, i) ? values[i] : otherwise[i]; });
}
EMULATED __m512 _mm512_maskz_loadu_ps(__mmask16 mask, const void* p) {
    return _mm512_mask_loadu_ps(__m512{}, mask, p);
}
EMULATED void _mm512_mask_storeu_ps(void* p, __mmask16 mask, __m512 x) {
    for (int i = 0; i < 16; ++i) {
        if (emulated::is_set(mask, i)) static_cast<float*>(p)[i] = x[i];
    }
}
EMULATED void _mm_mask_storeu_epi8(void* p, __mmask16 mask, __m128i x) {
    std::int8_t bytes[16];
    std::memcpy(bytes, &x, sizeof bytes);
    for (int i = 0; i < 16; ++i) {
        if (emulated::is_set(mask, i)) static_cast<std::int8_t*>(p)[i] = bytes[i];
    }
}
EMULATED __m512i _mm512_castps_si512(__m512 x) {
    return emulated::as<__m512i>(x);
}
EMULATED __m512 _mm512_castsi512_ps(__m512i x) {
    return emulated::as<__m512>(x);
}
EMULATED __m512i _mm512_setzero_si512() {
    return __m512i{};
}
EMULATED __m512i _mm512_set1_epi32(std::int32_t x) {
    return emulated::as<__m512i>(emulated::lanes<emulated::Ints>([&](int) { return x; }));
}
EMULATED __m512i _mm512_loadu_si512(const void* p) {
    __m512i x;
    std::memcpy(&x, p, sizeof x);
    return x;
}
EMULATED void _mm512_storeu_si512(void* p, __m512i x) {
    std::memcpy(p, &x, sizeof x);
}
EMULATED __m512i _mm512_xor_si512(__m512i x, __m512i y) {
    return x ^ y;
}
EMULATED __m512i _mm512_and_si512(__m512i x, __m512i y) {
    return x & y;
}
EMULATED __m512i _mm512_srli_epi16(__m512i x, unsigned count) {
    return emulated::as<__m512i>(emulated::as<emulated::Words>(x) >> static_cast<std::uint16_t>(count));
}
EMULATED __m512i _mm512_slli_epi32(__m512i x, unsigned count) {
    return emulated::as<__m512i>(emulated::as<emulated::Bits>(x) << count);
}
EMULATED __m512i _mm512_add_epi32(__m512i x, __m512i y) {
    return emulated::as<__m512i>(emulated::as<emulated::Bits>(x) + emulated::as<emulated::Bits>(y));
}
EMULATED __m512i _mm512_maskz_add_epi32(__mmask16 mask, __m512i x, __m512i y) {
    return _mm512_castps_si512(_mm512_maskz_mov_ps(mask, _mm512_castsi512_ps(_mm512_add_epi32(x, y))));
}
EMULATED __m512i _mm512_sub_epi32(__m512i x, __m512i y) {
    return emulated::as<__m512i>(emulated::as<emulated::Bits>(x) - emulated::as<emulated::Bits>(y));
}
EMULATED __m512 _mm512_cvtepi32_ps(__m512i x) {
    const emulated::Ints ints = emulated::as<emulated::Ints>(x);
    return emulated::lanes<__m512>([&](int i) { return static_cast<float>(ints[i]); });
}
EMULATED __m512i _mm512_cvtps_epi32(__m512 x) {
    return emulated::as<__m512i>(
        emulated::lanes<emulated::Ints>([&](int i) { return static_cast<std::int32_t>(std::nearbyint(x[i])); }));
}
EMULATED __m128i _mm512_cvtepi32_epi8(__m512i x) {
    const emulated::Ints ints = emulated::as<emulated::Ints>(x);
    std::int8_t bytes[16];
    for (int i = 0; i < 16; ++i)
        bytes[i] = static_cast<std::int8_t>(ints[i]);
    __m128i y;
    std::memcpy(&y, bytes, sizeof y);
    return y;
}
EMULATED __m512i _mm512_cvtepu8_epi32(__m128i x) {
    std::uint8_t bytes[16];
    std::memcpy(bytes, &x, sizeof bytes);
    return emulated::as<__m512i>(emulated::lanes<emulated::Ints>([&](int i) { return std::int32_t{bytes[i]}; }));
}
EMULATED __m512i _mm512_madd_epi16(__m512i x, __m512i y) {
    std::int16_t a[32];
    std::int16_t b[32];
    std::memcpy(a, &x, sizeof a);
    std::memcpy(b, &y, sizeof b);
    return emulated::as<__m512i>(
        emulated::lanes<emulated::Ints>([&](int i) { return a[2 * i] * b[2 * i] + a[2 * i + 1] * b[2 * i + 1]; }));
}
EMULATED __m512i _mm512_dpbusd_epi32(__m512i sum, __m512i u8, __m512i s8) {
    std::uint8_t u[64];
    std::int8_t s[64];
    std::memcpy(u, &u8, sizeof u);
    std::memcpy(s, &s8, sizeof s);
    const emulated::Bits sums = emulated::as<emulated::Bits>(sum);
    return emulated::as<__m512i>(emulated::lanes<emulated::Bits>([&](int i) {
        std::int32_t products = 0;
        for (int k = 4 * i; k < 4 * i + 4; ++k)
            products += u[k] * s[k];
        return sums[i] + static_cast<std::uint32_t>(products);
    }));
}
