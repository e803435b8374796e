// SPDX-License-Identifier: Apache-2.0
// Eight floats in a register, for the sets avx2 and avx_vnni. Included inside their namespaces.

struct Register {
    __m256 lanes;
};
constexpr std::uint32_t kRegisterLanes = 8;

ETCH_INLINE Register all(float x) noexcept {
    return {_mm256_set1_ps(x)};
}
ETCH_INLINE Register load(const float* p) noexcept {
    return {_mm256_loadu_ps(p)};
}
ETCH_INLINE void store(float* p, Register x) noexcept {
    _mm256_storeu_ps(p, x.lanes);
}
ETCH_INLINE Register add(Register x, Register y) noexcept {
    return {_mm256_add_ps(x.lanes, y.lanes)};
}
ETCH_INLINE Register sub(Register x, Register y) noexcept {
    return {_mm256_sub_ps(x.lanes, y.lanes)};
}
ETCH_INLINE Register mul(Register x, Register y) noexcept {
    return {_mm256_mul_ps(x.lanes, y.lanes)};
}
ETCH_INLINE Register max(Register x, Register y) noexcept {
    return {_mm256_max_ps(x.lanes, y.lanes)};
}
ETCH_INLINE Register min(Register x, Register y) noexcept {
    return {_mm256_min_ps(x.lanes, y.lanes)};
}
ETCH_INLINE Register absolute(Register x) noexcept {
    return {_mm256_andnot_ps(_mm256_set1_ps(-0.0f), x.lanes)};
}
ETCH_INLINE Register with_sign_of(Register magnitude, Register x) noexcept {
    return {_mm256_or_ps(magnitude.lanes, _mm256_and_ps(x.lanes, _mm256_set1_ps(-0.0f)))};
}
ETCH_INLINE Register select_if_less(Register x, Register y, Register less, Register otherwise) noexcept {
    return {_mm256_blendv_ps(otherwise.lanes, less.lanes, _mm256_cmp_ps(x.lanes, y.lanes, _CMP_LT_OQ))};
}
ETCH_INLINE Register scale_or_clear(Register p, Register shifted, Register x, Register least) noexcept {
    const __m256i exponent = _mm256_slli_epi32(_mm256_castps_si256(shifted.lanes), 23);
    const __m256 scaled = _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(p.lanes), exponent));
    return {_mm256_andnot_ps(_mm256_cmp_ps(x.lanes, least.lanes, _CMP_LT_OQ), scaled)};
}
ETCH_INLINE float tree_sum(Register x) noexcept {
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(x.lanes), _mm256_extractf128_ps(x.lanes, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}
ETCH_INLINE float largest_of(Register x) noexcept {
    const __m128 four = _mm_max_ps(_mm256_castps256_ps128(x.lanes), _mm256_extractf128_ps(x.lanes, 1));
    const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}
ETCH_INLINE void keep_order(Register& x) noexcept {
    ETCH_KEEP_IN_REGISTER("x", x.lanes);
}
ETCH_INLINE float square_root(float x) noexcept {
    return _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(x)));
}
