// SPDX-License-Identifier: Apache-2.0
// The set avx_vnni with its one instruction beyond AVX2 emulated, for CPUs that have AVX2 only.
#include <immintrin.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif

namespace {

// vpdpbusd: unsigned by signed bytes, four products added to an int32 that wraps.
inline __attribute__((always_inline)) __m256i dpbusd(__m256i sum, __m256i u8, __m256i s8) {
    const __m256i zero = _mm256_setzero_si256();
    const __m256i low_s16 = _mm256_srai_epi16(_mm256_unpacklo_epi8(zero, s8), 8);
    const __m256i high_s16 = _mm256_srai_epi16(_mm256_unpackhi_epi8(zero, s8), 8);
    const __m256i low = _mm256_madd_epi16(_mm256_unpacklo_epi8(u8, zero), low_s16);
    const __m256i high = _mm256_madd_epi16(_mm256_unpackhi_epi8(u8, zero), high_s16);
    return _mm256_add_epi32(sum, _mm256_hadd_epi32(low, high));
}

}  // namespace

#define _mm256_dpbusd_avx_epi32 dpbusd
#define kAvxVnni kAvxVnniEmulated
#define avx_vnni_usable avx2_usable
#include "kernels/avx_vnni/avx_vnni.cpp"

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
