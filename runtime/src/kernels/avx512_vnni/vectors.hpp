// SPDX-License-Identifier: Apache-2.0
// Sixteen floats in one register, the unit in which everything is written: it is the width of a panel and of a row sum.
// Included by avx512_vnni.cpp only.
#pragma once

// GCC 12's own header means "any value" by a variable that is initialized by itself, and then warns of it.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#include <cstdint>

#include "etch/version.hpp"

// GCC unrolls loops over registers at -O2 only when told to; left rolled, the arrays would live in memory.
#if defined(__clang__)
#define ETCH_AVX512_UNROLL _Pragma("unroll")
#else
#define ETCH_AVX512_UNROLL _Pragma("GCC unroll 16")
#endif

// Functions on registers: a call would pass them through memory.
#define ETCH_AVX512_INLINE inline __attribute__((always_inline))

// Tiles: inlined into their one caller, all of their frames would be on the stack at once.
#define ETCH_AVX512_NOINLINE __attribute__((noinline))

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace avx512_vnni {
namespace {

struct Floats {
    __m512 lanes;
};

ETCH_AVX512_INLINE Floats all(float x) noexcept {
    return {_mm512_set1_ps(x)};
}
ETCH_AVX512_INLINE Floats load(const float* p) noexcept {
    return {_mm512_loadu_ps(p)};
}
ETCH_AVX512_INLINE void store(float* p, Floats x) noexcept {
    _mm512_storeu_ps(p, x.lanes);
}
ETCH_AVX512_INLINE Floats add(Floats x, Floats y) noexcept {
    return {_mm512_add_ps(x.lanes, y.lanes)};
}
ETCH_AVX512_INLINE Floats sub(Floats x, Floats y) noexcept {
    return {_mm512_sub_ps(x.lanes, y.lanes)};
}
ETCH_AVX512_INLINE Floats mul(Floats x, Floats y) noexcept {
    return {_mm512_mul_ps(x.lanes, y.lanes)};
}
// x > y ? x : y and x < y ? x : y.
ETCH_AVX512_INLINE Floats max(Floats x, Floats y) noexcept {
    return {_mm512_max_ps(x.lanes, y.lanes)};
}
ETCH_AVX512_INLINE Floats min(Floats x, Floats y) noexcept {
    return {_mm512_min_ps(x.lanes, y.lanes)};
}
ETCH_AVX512_INLINE __mmask16 less(Floats x, Floats y) noexcept {
    return _mm512_cmp_ps_mask(x.lanes, y.lanes, _CMP_LT_OQ);
}
ETCH_AVX512_INLINE Floats select(__mmask16 mask, Floats if_set, Floats if_clear) noexcept {
    return {_mm512_mask_mov_ps(if_clear.lanes, mask, if_set.lanes)};
}
// +0.0f where the mask is set.
ETCH_AVX512_INLINE Floats clear(__mmask16 mask, Floats x) noexcept {
    return {_mm512_maskz_mov_ps(_knot_mask16(mask), x.lanes)};
}
ETCH_AVX512_INLINE Floats absolute(Floats x) noexcept {
    return {_mm512_andnot_ps(_mm512_set1_ps(-0.0f), x.lanes)};
}
ETCH_AVX512_INLINE Floats with_sign_of(Floats magnitude, Floats x) noexcept {
    return {_mm512_or_ps(magnitude.lanes, _mm512_and_ps(x.lanes, _mm512_set1_ps(-0.0f)))};
}

// The lanes of a Floats that are in a row: all 16 of them.
struct AllLanes {
    Floats load(const float* p) const noexcept { return avx512_vnni::load(p); }
    void store(float* p, Floats x) const noexcept { avx512_vnni::store(p, x); }
    void store_bytes(std::int8_t* p, __m128i x) const noexcept { _mm_storeu_si128(reinterpret_cast<__m128i*>(p), x); }
    Floats keep(Floats x) const noexcept { return x; }
    Floats keep_or(Floats x, Floats) const noexcept { return x; }
};

// The first `count` of 16, 1 to 16; the others load as +0.0f and are not stored, nor is their memory touched.
class FirstLanes {
  public:
    explicit FirstLanes(std::uint32_t count) noexcept : mask_(static_cast<__mmask16>(0xFFFFu >> (16 - count))) {}

    Floats load(const float* p) const noexcept { return {_mm512_maskz_loadu_ps(mask_, p)}; }
    void store(float* p, Floats x) const noexcept { _mm512_mask_storeu_ps(p, mask_, x.lanes); }
    void store_bytes(std::int8_t* p, __m128i x) const noexcept { _mm_mask_storeu_epi8(p, mask_, x); }
    // The other lanes become +0.0f, or those of `other`.
    Floats keep(Floats x) const noexcept { return {_mm512_maskz_mov_ps(mask_, x.lanes)}; }
    Floats keep_or(Floats x, Floats other) const noexcept { return select(mask_, x, other); }

  private:
    __mmask16 mask_;
};

// Walks a row of n floats 16 at a time: body(i, lanes).
template <class Body>
ETCH_AVX512_INLINE void for_each_16(std::uint32_t n, Body body) noexcept {
    std::uint32_t i = 0;
    for (; n - i >= 16; i += 16)
        body(i, AllLanes{});
    if (i < n) body(i, FirstLanes(n - i));
}

// The contract's sum along a row, from its 16 partials: a tree +8, +4, +2, +1.
ETCH_AVX512_INLINE float tree_sum(Floats partials) noexcept {
    const __m256 high = _mm512_extractf32x8_ps(partials.lanes, 1);
    const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(partials.lanes), high);
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

ETCH_AVX512_INLINE float largest_of(Floats x) noexcept {
    const __m256 eight = _mm256_max_ps(_mm512_castps512_ps256(x.lanes), _mm512_extractf32x8_ps(x.lanes, 1));
    const __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

}  // namespace
}  // namespace avx512_vnni
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
