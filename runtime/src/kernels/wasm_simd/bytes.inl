// SPDX-License-Identifier: Apache-2.0
// Conversion of floats to integers. Included inside the namespace of wasm_simd.

ETCH_INLINE v128_t round_to_integers(Register x) noexcept {
    return wasm_i32x4_trunc_sat_f32x4(wasm_f32x4_nearest(x.lanes));
}

// rne(x) as int16, in order.
ETCH_INLINE v128_t round_to_words(Pair<Register> x) noexcept {
    return wasm_i16x8_narrow_i32x4(round_to_integers(x.low), round_to_integers(x.high));
}

template <class Lanes>
ETCH_INLINE void store_bytes(std::int8_t* q, Floats x, const Lanes& lanes) noexcept {
    const v128_t bytes = wasm_i8x16_narrow_i16x8(round_to_words(x.low), round_to_words(x.high));
    if constexpr (std::is_same_v<Lanes, FirstLanes>) {
        std::int8_t values[16];
        wasm_v128_store(values, bytes);
        lanes.write_bytes(q, values);
    } else {
        wasm_v128_store(q, bytes);
    }
}
