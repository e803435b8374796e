// SPDX-License-Identifier: Apache-2.0
// The integers of vector/matmul_vnni.inl: bytes, or 16 int32 lanes, in two registers. Included inside the namespace of
// avx_vnni.

struct Ints {
    __m256i low;
    __m256i high;
};

ETCH_INLINE Ints all_ints(std::int32_t x) noexcept {
    return {_mm256_set1_epi32(x), _mm256_set1_epi32(x)};
}
ETCH_INLINE Ints load_ints(const void* p) noexcept {
    const __m256i* const halves = static_cast<const __m256i*>(p);
    return {_mm256_loadu_si256(halves), _mm256_loadu_si256(halves + 1)};
}
ETCH_INLINE void store_ints(void* p, Ints x) noexcept {
    __m256i* const halves = static_cast<__m256i*>(p);
    _mm256_storeu_si256(halves, x.low);
    _mm256_storeu_si256(halves + 1, x.high);
}
ETCH_INLINE Ints plus(Ints x, Ints y) noexcept {
    return {_mm256_add_epi32(x.low, y.low), _mm256_add_epi32(x.high, y.high)};
}
ETCH_INLINE Ints minus(Ints x, Ints y) noexcept {
    return {_mm256_sub_epi32(x.low, y.low), _mm256_sub_epi32(x.high, y.high)};
}
ETCH_INLINE Ints exclusive_or(Ints x, Ints y) noexcept {
    return {_mm256_xor_si256(x.low, y.low), _mm256_xor_si256(x.high, y.high)};
}
ETCH_INLINE Ints dot(Ints sum, Ints u8, Ints s8) noexcept {
    return {_mm256_dpbusd_avx_epi32(sum.low, u8.low, s8.low), _mm256_dpbusd_avx_epi32(sum.high, u8.high, s8.high)};
}
ETCH_INLINE void keep_in_registers(Ints& x) noexcept {
    ETCH_KEEP_IN_REGISTER("x", x.low);
    ETCH_KEEP_IN_REGISTER("x", x.high);
}
ETCH_INLINE Floats to_floats(Ints x) noexcept {
    return {{_mm256_cvtepi32_ps(x.low)}, {_mm256_cvtepi32_ps(x.high)}};
}
ETCH_INLINE Ints bits_of(const Floats& x) noexcept {
    return {_mm256_castps_si256(x.low.lanes), _mm256_castps_si256(x.high.lanes)};
}
