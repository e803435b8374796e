// SPDX-License-Identifier: Apache-2.0
// Sixteen floats in a register, and the integers of the products. Included inside the namespace of avx512_vnni.

struct Register {
    __m512 lanes;
};
constexpr std::uint32_t kRegisterLanes = 16;

ETCH_INLINE Register all(float x) noexcept {
    return {_mm512_set1_ps(x)};
}
ETCH_INLINE Register load(const float* p) noexcept {
    return {_mm512_loadu_ps(p)};
}
ETCH_INLINE void store(float* p, Register x) noexcept {
    _mm512_storeu_ps(p, x.lanes);
}
ETCH_INLINE Register add(Register x, Register y) noexcept {
    return {_mm512_add_ps(x.lanes, y.lanes)};
}
ETCH_INLINE Register sub(Register x, Register y) noexcept {
    return {_mm512_sub_ps(x.lanes, y.lanes)};
}
ETCH_INLINE Register mul(Register x, Register y) noexcept {
    return {_mm512_mul_ps(x.lanes, y.lanes)};
}
ETCH_INLINE Register max(Register x, Register y) noexcept {
    return {_mm512_max_ps(x.lanes, y.lanes)};
}
ETCH_INLINE Register min(Register x, Register y) noexcept {
    return {_mm512_min_ps(x.lanes, y.lanes)};
}
ETCH_INLINE Register absolute(Register x) noexcept {
    return {_mm512_andnot_ps(_mm512_set1_ps(-0.0f), x.lanes)};
}
ETCH_INLINE Register with_sign_of(Register magnitude, Register x) noexcept {
    return {_mm512_or_ps(magnitude.lanes, _mm512_and_ps(x.lanes, _mm512_set1_ps(-0.0f)))};
}
ETCH_INLINE Register select_if_less(Register x, Register y, Register less, Register otherwise) noexcept {
    return {_mm512_mask_mov_ps(otherwise.lanes, _mm512_cmp_ps_mask(x.lanes, y.lanes, _CMP_LT_OQ), less.lanes)};
}
ETCH_INLINE Register scale_or_clear(Register p, Register shifted, Register x, Register least) noexcept {
    const __mmask16 kept = _mm512_cmp_ps_mask(x.lanes, least.lanes, _CMP_NLT_UQ);
    const __m512i exponent = _mm512_slli_epi32(_mm512_castps_si512(shifted.lanes), 23);
    return {_mm512_castsi512_ps(_mm512_maskz_add_epi32(kept, _mm512_castps_si512(p.lanes), exponent))};
}
ETCH_INLINE float tree_sum(Register x) noexcept {
    const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(x.lanes), _mm512_extractf32x8_ps(x.lanes, 1));
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}
ETCH_INLINE float largest_of(Register x) noexcept {
    const __m256 eight = _mm256_max_ps(_mm512_castps512_ps256(x.lanes), _mm512_extractf32x8_ps(x.lanes, 1));
    const __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}
ETCH_INLINE void keep_order(Register& x) noexcept {
    ETCH_KEEP_IN_REGISTER("v", x.lanes);
}
ETCH_INLINE float square_root(float x) noexcept {
    return _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(x)));
}

// The integers of vector/matmul_vnni.inl: bytes, or 16 int32 lanes.
struct Ints {
    __m512i lanes;
};

ETCH_INLINE Ints all_ints(std::int32_t x) noexcept {
    return {_mm512_set1_epi32(x)};
}
ETCH_INLINE Ints load_ints(const void* p) noexcept {
    return {_mm512_loadu_si512(p)};
}
ETCH_INLINE void store_ints(void* p, Ints x) noexcept {
    _mm512_storeu_si512(p, x.lanes);
}
ETCH_INLINE Ints plus(Ints x, Ints y) noexcept {
    return {_mm512_add_epi32(x.lanes, y.lanes)};
}
ETCH_INLINE Ints minus(Ints x, Ints y) noexcept {
    return {_mm512_sub_epi32(x.lanes, y.lanes)};
}
ETCH_INLINE Ints exclusive_or(Ints x, Ints y) noexcept {
    return {_mm512_xor_si512(x.lanes, y.lanes)};
}
ETCH_INLINE Ints dot(Ints sum, Ints u8, Ints s8) noexcept {
    return {_mm512_dpbusd_epi32(sum.lanes, u8.lanes, s8.lanes)};
}
ETCH_INLINE void keep_in_registers(Ints& x) noexcept {
    ETCH_KEEP_IN_REGISTER("v", x.lanes);
}
ETCH_INLINE Register to_floats(Ints x) noexcept {
    return {_mm512_cvtepi32_ps(x.lanes)};
}
ETCH_INLINE Ints bits_of(Register x) noexcept {
    return {_mm512_castps_si512(x.lanes)};
}
