// SPDX-License-Identifier: Apache-2.0
// Four floats in a register. Included inside the namespace of wasm_simd.

struct Register {
    v128_t lanes;
};
constexpr std::uint32_t kRegisterLanes = 4;

ETCH_INLINE Register all(float x) noexcept {
    return {wasm_f32x4_splat(x)};
}
ETCH_INLINE Register load(const float* p) noexcept {
    return {wasm_v128_load(p)};
}
ETCH_INLINE void store(float* p, Register x) noexcept {
    wasm_v128_store(p, x.lanes);
}
ETCH_INLINE Register add(Register x, Register y) noexcept {
    return {wasm_f32x4_add(x.lanes, y.lanes)};
}
ETCH_INLINE Register sub(Register x, Register y) noexcept {
    return {wasm_f32x4_sub(x.lanes, y.lanes)};
}
ETCH_INLINE Register mul(Register x, Register y) noexcept {
    return {wasm_f32x4_mul(x.lanes, y.lanes)};
}
// pmax(a, b) is a < b ? b : a, and pmin the same: the contract's comparison, which min and max are not.
ETCH_INLINE Register max(Register x, Register y) noexcept {
    return {wasm_f32x4_pmax(y.lanes, x.lanes)};
}
ETCH_INLINE Register min(Register x, Register y) noexcept {
    return {wasm_f32x4_pmin(y.lanes, x.lanes)};
}
ETCH_INLINE Register absolute(Register x) noexcept {
    return {wasm_f32x4_abs(x.lanes)};
}
ETCH_INLINE Register with_sign_of(Register magnitude, Register x) noexcept {
    return {wasm_v128_bitselect(x.lanes, magnitude.lanes, wasm_f32x4_splat(-0.0f))};
}
ETCH_INLINE Register select_if_less(Register x, Register y, Register less, Register otherwise) noexcept {
    return {wasm_v128_bitselect(less.lanes, otherwise.lanes, wasm_f32x4_lt(x.lanes, y.lanes))};
}
ETCH_INLINE Register scale_or_clear(Register p, Register shifted, Register x, Register least) noexcept {
    const v128_t scaled = wasm_i32x4_add(p.lanes, wasm_i32x4_shl(shifted.lanes, 23));
    return {wasm_v128_andnot(scaled, wasm_f32x4_lt(x.lanes, least.lanes))};
}
ETCH_INLINE float tree_sum(Register x) noexcept {
    const v128_t two = wasm_f32x4_add(x.lanes, wasm_i32x4_shuffle(x.lanes, x.lanes, 2, 3, 2, 3));
    return wasm_f32x4_extract_lane(two, 0) + wasm_f32x4_extract_lane(two, 1);
}
ETCH_INLINE float largest_of(Register x) noexcept {
    const v128_t two = wasm_f32x4_pmax(x.lanes, wasm_i32x4_shuffle(x.lanes, x.lanes, 2, 3, 2, 3));
    return wasm_f32x4_extract_lane(wasm_f32x4_pmax(two, wasm_i32x4_shuffle(two, two, 1, 1, 1, 1)), 0);
}
// The engine that runs the module chooses its own order.
ETCH_INLINE void keep_order(Register&) noexcept {}
ETCH_INLINE float square_root(float x) noexcept {
    return std::sqrt(x);
}
