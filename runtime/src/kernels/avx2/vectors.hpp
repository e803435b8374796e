// SPDX-License-Identifier: Apache-2.0
// Sixteen floats in two registers, the unit in which everything but the matrix products' inner loops is written: it is
// the width of a panel and of a row sum, and two independent chains keep the CPU busier than one. Included by avx2.cpp
// only.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "etch/version.hpp"

// GCC unrolls loops over registers at -O2 only when told to; left rolled, the arrays would live in memory.
#if defined(__clang__)
#define ETCH_AVX2_UNROLL _Pragma("unroll")
#else
#define ETCH_AVX2_UNROLL _Pragma("GCC unroll 16")
#endif

// Functions on registers: a call would pass them through memory.
#define ETCH_AVX2_INLINE inline __attribute__((always_inline))

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace avx2 {
namespace {

struct Floats {
    __m256 low;
    __m256 high;
};

ETCH_AVX2_INLINE Floats all(float x) noexcept {
    return {_mm256_set1_ps(x), _mm256_set1_ps(x)};
}
ETCH_AVX2_INLINE Floats load(const float* p) noexcept {
    return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)};
}
ETCH_AVX2_INLINE void store(float* p, Floats x) noexcept {
    _mm256_storeu_ps(p, x.low);
    _mm256_storeu_ps(p + 8, x.high);
}
ETCH_AVX2_INLINE Floats add(Floats x, Floats y) noexcept {
    return {_mm256_add_ps(x.low, y.low), _mm256_add_ps(x.high, y.high)};
}
ETCH_AVX2_INLINE Floats sub(Floats x, Floats y) noexcept {
    return {_mm256_sub_ps(x.low, y.low), _mm256_sub_ps(x.high, y.high)};
}
ETCH_AVX2_INLINE Floats mul(Floats x, Floats y) noexcept {
    return {_mm256_mul_ps(x.low, y.low), _mm256_mul_ps(x.high, y.high)};
}
// x > y ? x : y and x < y ? x : y.
ETCH_AVX2_INLINE Floats max(Floats x, Floats y) noexcept {
    return {_mm256_max_ps(x.low, y.low), _mm256_max_ps(x.high, y.high)};
}
ETCH_AVX2_INLINE Floats min(Floats x, Floats y) noexcept {
    return {_mm256_min_ps(x.low, y.low), _mm256_min_ps(x.high, y.high)};
}
ETCH_AVX2_INLINE Floats bit_and(Floats x, Floats y) noexcept {
    return {_mm256_and_ps(x.low, y.low), _mm256_and_ps(x.high, y.high)};
}
ETCH_AVX2_INLINE Floats bit_or(Floats x, Floats y) noexcept {
    return {_mm256_or_ps(x.low, y.low), _mm256_or_ps(x.high, y.high)};
}
ETCH_AVX2_INLINE Floats bit_and_not(Floats x, Floats y) noexcept {  // y & ~x
    return {_mm256_andnot_ps(x.low, y.low), _mm256_andnot_ps(x.high, y.high)};
}
ETCH_AVX2_INLINE Floats less(Floats x, Floats y) noexcept {
    return {_mm256_cmp_ps(x.low, y.low, _CMP_LT_OQ), _mm256_cmp_ps(x.high, y.high, _CMP_LT_OQ)};
}
ETCH_AVX2_INLINE Floats select(Floats mask, Floats if_set, Floats if_clear) noexcept {
    return {_mm256_blendv_ps(if_clear.low, if_set.low, mask.low),
            _mm256_blendv_ps(if_clear.high, if_set.high, mask.high)};
}
ETCH_AVX2_INLINE Floats absolute(Floats x) noexcept {
    return bit_and_not(all(-0.0f), x);
}
ETCH_AVX2_INLINE Floats with_sign_of(Floats magnitude, Floats x) noexcept {
    return bit_or(magnitude, bit_and(x, all(-0.0f)));
}

constexpr std::int32_t kLaneMasks[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};

// The lanes of a Floats that are in a row: all 16 of them.
struct AllLanes {
    Floats load(const float* p) const noexcept { return avx2::load(p); }
    void store(float* p, Floats x) const noexcept { avx2::store(p, x); }
    Floats keep(Floats x) const noexcept { return x; }
    Floats keep_or(Floats x, Floats) const noexcept { return x; }
};

// The first `count` of 16; the others load as +0.0f and are not stored, nor is their memory touched.
class FirstLanes {
  public:
    explicit FirstLanes(std::uint32_t count) noexcept
        : low_(mask(count < 8 ? count : 8)), high_(mask(count < 8 ? 0 : count - 8)) {}

    Floats load(const float* p) const noexcept {
        return {_mm256_maskload_ps(p, low_), _mm256_maskload_ps(p + 8, high_)};
    }
    void store(float* p, Floats x) const noexcept {
        _mm256_maskstore_ps(p, low_, x.low);
        _mm256_maskstore_ps(p + 8, high_, x.high);
    }
    // The other lanes become +0.0f, or those of `other`.
    Floats keep(Floats x) const noexcept { return bit_and(x, as_floats()); }
    Floats keep_or(Floats x, Floats other) const noexcept { return select(as_floats(), x, other); }

  private:
    static __m256i mask(std::uint32_t count) noexcept {
        return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kLaneMasks + (8 - count)));
    }
    Floats as_floats() const noexcept { return {_mm256_castsi256_ps(low_), _mm256_castsi256_ps(high_)}; }

    __m256i low_;
    __m256i high_;
};

// Walks a row of n floats 16 at a time: body(i, lanes).
template <class Body>
ETCH_AVX2_INLINE void for_each_16(std::uint32_t n, Body body) noexcept {
    std::uint32_t i = 0;
    for (; n - i >= 16; i += 16)
        body(i, AllLanes{});
    if (i < n) body(i, FirstLanes(n - i));
}

// The contract's sum along a row, from its 16 partials: a tree +8, +4, +2, +1.
ETCH_AVX2_INLINE float tree_sum(Floats partials) noexcept {
    const __m256 eight = _mm256_add_ps(partials.low, partials.high);
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

ETCH_AVX2_INLINE float largest_of(Floats x) noexcept {
    const __m256 eight = _mm256_max_ps(x.low, x.high);
    const __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

}  // namespace
}  // namespace avx2
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
