// SPDX-License-Identifier: Apache-2.0
// Four floats in a register, for the sets neon, neon_dotprod and neon_i8mm. Included inside their namespaces.

struct Register {
    float32x4_t lanes;
};
constexpr std::uint32_t kRegisterLanes = 4;

ETCH_INLINE Register all(float x) noexcept {
    return {vdupq_n_f32(x)};
}
ETCH_INLINE Register load(const float* p) noexcept {
    return {vld1q_f32(p)};
}
ETCH_INLINE void store(float* p, Register x) noexcept {
    vst1q_f32(p, x.lanes);
}
ETCH_INLINE Register add(Register x, Register y) noexcept {
    return {vaddq_f32(x.lanes, y.lanes)};
}
ETCH_INLINE Register sub(Register x, Register y) noexcept {
    return {vsubq_f32(x.lanes, y.lanes)};
}
ETCH_INLINE Register mul(Register x, Register y) noexcept {
    return {vmulq_f32(x.lanes, y.lanes)};
}
// fmax and fmin treat zeros of different signs as different, the contract's comparison does not.
ETCH_INLINE Register max(Register x, Register y) noexcept {
    return {vbslq_f32(vcgtq_f32(x.lanes, y.lanes), x.lanes, y.lanes)};
}
ETCH_INLINE Register min(Register x, Register y) noexcept {
    return {vbslq_f32(vcltq_f32(x.lanes, y.lanes), x.lanes, y.lanes)};
}
ETCH_INLINE Register absolute(Register x) noexcept {
    return {vabsq_f32(x.lanes)};
}
ETCH_INLINE Register with_sign_of(Register magnitude, Register x) noexcept {
    return {vbslq_f32(vdupq_n_u32(0x80000000u), x.lanes, magnitude.lanes)};
}
ETCH_INLINE Register select_if_less(Register x, Register y, Register less, Register otherwise) noexcept {
    return {vbslq_f32(vcltq_f32(x.lanes, y.lanes), less.lanes, otherwise.lanes)};
}
ETCH_INLINE Register scale_or_clear(Register p, Register shifted, Register x, Register least) noexcept {
    const uint32x4_t exponent = vshlq_n_u32(vreinterpretq_u32_f32(shifted.lanes), 23);
    const uint32x4_t scaled = vaddq_u32(vreinterpretq_u32_f32(p.lanes), exponent);
    return {vreinterpretq_f32_u32(vbicq_u32(scaled, vcltq_f32(x.lanes, least.lanes)))};
}
ETCH_INLINE float tree_sum(Register x) noexcept {
    const float32x2_t two = vadd_f32(vget_low_f32(x.lanes), vget_high_f32(x.lanes));
    return vget_lane_f32(two, 0) + vget_lane_f32(two, 1);
}
ETCH_INLINE float largest_of(Register x) noexcept {
    return vmaxvq_f32(x.lanes);
}
ETCH_INLINE void keep_order(Register& x) noexcept {
    ETCH_KEEP_IN_REGISTER("w", x.lanes);
}
ETCH_INLINE float square_root(float x) noexcept {
    return vget_lane_f32(vsqrt_f32(vdup_n_f32(x)), 0);
}
