// SPDX-License-Identifier: Apache-2.0
// Four floats in a register. Included inside the namespace of sse2.

struct Register {
    __m128 lanes;
};
constexpr std::uint32_t kRegisterLanes = 4;

ETCH_INLINE Register all(float x) noexcept {
    return {_mm_set1_ps(x)};
}
ETCH_INLINE Register load(const float* p) noexcept {
    return {_mm_loadu_ps(p)};
}
ETCH_INLINE void store(float* p, Register x) noexcept {
    _mm_storeu_ps(p, x.lanes);
}
ETCH_INLINE Register add(Register x, Register y) noexcept {
    return {_mm_add_ps(x.lanes, y.lanes)};
}
ETCH_INLINE Register sub(Register x, Register y) noexcept {
    return {_mm_sub_ps(x.lanes, y.lanes)};
}
ETCH_INLINE Register mul(Register x, Register y) noexcept {
    return {_mm_mul_ps(x.lanes, y.lanes)};
}
ETCH_INLINE Register max(Register x, Register y) noexcept {
    return {_mm_max_ps(x.lanes, y.lanes)};
}
ETCH_INLINE Register min(Register x, Register y) noexcept {
    return {_mm_min_ps(x.lanes, y.lanes)};
}
ETCH_INLINE Register absolute(Register x) noexcept {
    return {_mm_andnot_ps(_mm_set1_ps(-0.0f), x.lanes)};
}
ETCH_INLINE Register with_sign_of(Register magnitude, Register x) noexcept {
    return {_mm_or_ps(magnitude.lanes, _mm_and_ps(x.lanes, _mm_set1_ps(-0.0f)))};
}
ETCH_INLINE Register select_if_less(Register x, Register y, Register less, Register otherwise) noexcept {
    const __m128 mask = _mm_cmplt_ps(x.lanes, y.lanes);
    return {_mm_or_ps(_mm_and_ps(mask, less.lanes), _mm_andnot_ps(mask, otherwise.lanes))};
}
ETCH_INLINE Register scale_or_clear(Register p, Register shifted, Register x, Register least) noexcept {
    const __m128i exponent = _mm_slli_epi32(_mm_castps_si128(shifted.lanes), 23);
    const __m128 scaled = _mm_castsi128_ps(_mm_add_epi32(_mm_castps_si128(p.lanes), exponent));
    return {_mm_andnot_ps(_mm_cmplt_ps(x.lanes, least.lanes), scaled)};
}
ETCH_INLINE float tree_sum(Register x) noexcept {
    const __m128 two = _mm_add_ps(x.lanes, _mm_movehl_ps(x.lanes, x.lanes));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
}
ETCH_INLINE float largest_of(Register x) noexcept {
    const __m128 two = _mm_max_ps(x.lanes, _mm_movehl_ps(x.lanes, x.lanes));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_shuffle_ps(two, two, 1)));
}
ETCH_INLINE void keep_order(Register& x) noexcept {
    ETCH_KEEP_IN_REGISTER("x", x.lanes);
}
ETCH_INLINE float square_root(float x) noexcept {
    return _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(x)));
}
