// SPDX-License-Identifier: Apache-2.0
// Loads, stores and reductions of 8-float vectors, whole or in part. Included by avx2.cpp only.
#pragma once

#include <immintrin.h>

#include <cstdint>

// GCC unrolls loops over registers at -O2 only when told to; left rolled, the arrays would live in memory.
#if defined(__clang__)
#define ETCH_AVX2_UNROLL _Pragma("unroll")
#else
#define ETCH_AVX2_UNROLL _Pragma("GCC unroll 16")
#endif

namespace etch {
inline namespace abi1 {
namespace avx2 {
namespace {

constexpr std::int32_t kLaneMasks[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};

// All 8 lanes.
struct Whole {
    __m256 load(const float* p) const noexcept { return _mm256_loadu_ps(p); }
    void store(float* p, __m256 v) const noexcept { _mm256_storeu_ps(p, v); }
    __m256 keep(__m256 v) const noexcept { return v; }
    __m256 keep_or(__m256 v, __m256) const noexcept { return v; }
};

// The first lanes; the others load as +0.0f and are not stored, nor is their memory touched.
class Part {
  public:
    // `lanes` above 8 counts as 8, below 0 as 0.
    explicit Part(std::int32_t lanes) noexcept {
        const std::int32_t used = lanes > 8 ? 8 : lanes < 0 ? 0 : lanes;
        mask_ = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kLaneMasks + 8 - used));
    }
    __m256 load(const float* p) const noexcept { return _mm256_maskload_ps(p, mask_); }
    void store(float* p, __m256 v) const noexcept { _mm256_maskstore_ps(p, mask_, v); }
    // Lanes beyond the part become +0.0f, or those of `other`.
    __m256 keep(__m256 v) const noexcept { return _mm256_and_ps(v, _mm256_castsi256_ps(mask_)); }
    __m256 keep_or(__m256 v, __m256 other) const noexcept {
        return _mm256_blendv_ps(other, v, _mm256_castsi256_ps(mask_));
    }

  private:
    __m256i mask_;
};

// Walks a row of n floats 16 at a time: body(i, low, high), where low and high say which lanes of the vectors at i and
// i + 8 are in the row.
template <class Body>
inline void for_each_16(std::uint32_t n, Body body) noexcept {
    std::uint32_t i = 0;
    for (; i + 16 <= n; i += 16)
        body(i, Whole{}, Whole{});
    if (i < n) {
        const std::int32_t lanes = static_cast<std::int32_t>(n - i);
        body(i, Part(lanes), Part(lanes - 8));
    }
}

// The contract's sum along a row: 16 partials, element i in partial i mod 16.
struct RowSum {
    __m256 low = _mm256_setzero_ps();
    __m256 high = _mm256_setzero_ps();

    float total() const noexcept {
        const __m256 eight = _mm256_add_ps(low, high);
        const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
        const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
        return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
    }
};

inline float largest_of(__m256 low, __m256 high) noexcept {
    const __m256 eight = _mm256_max_ps(low, high);
    const __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

inline __m256 absolute(__m256 x) noexcept {
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), x);
}

inline __m256 with_sign_of(__m256 magnitude, __m256 x) noexcept {
    return _mm256_or_ps(magnitude, _mm256_and_ps(x, _mm256_set1_ps(-0.0f)));
}

}  // namespace
}  // namespace avx2
}  // namespace abi1
}  // namespace etch
