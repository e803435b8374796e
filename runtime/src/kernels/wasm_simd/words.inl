// SPDX-License-Identifier: Apache-2.0
// Integers in a register, what matmul_words.inl is written with. Included inside the namespace of wasm_simd.

using Integers = v128_t;

ETCH_INLINE Integers load_integers(const void* p) noexcept {
    return wasm_v128_load(p);
}
ETCH_INLINE void store_integers(void* p, Integers x) noexcept {
    wasm_v128_store(p, x);
}

ETCH_INLINE Integers load_four_words(const std::uint8_t* p) noexcept {
    return wasm_v128_load64_zero(p);
}
// One of the pairs of words in place of all four.
template <unsigned kPair>
ETCH_INLINE Integers repeat_pair(Integers words) noexcept {
    return wasm_i32x4_shuffle(words, words, kPair, kPair, kPair, kPair);
}

// Each four int16 in the order 0, 2, 1, 3.
ETCH_INLINE Integers swap_middle(Integers words) noexcept {
    return wasm_i16x8_shuffle(words, words, 0, 2, 1, 3, 4, 6, 5, 7);
}

// The signed low or high byte of each int16.
ETCH_INLINE Integers low_bytes(Integers words) noexcept {
    return wasm_i16x8_shr(wasm_i16x8_shl(words, 8), 8);
}
ETCH_INLINE Integers high_bytes(Integers words) noexcept {
    return wasm_i16x8_shr(words, 8);
}

// x[2 i] * y[2 i] + x[2 i + 1] * y[2 i + 1] of int16, as int32.
ETCH_INLINE Integers add_pairs_of_products(Integers x, Integers y) noexcept {
    return wasm_i32x4_dot_i16x8(x, y);
}

// sum += addend per int32 lane.
ETCH_INLINE void accumulate(Integers& sum, Integers addend) noexcept {
    sum = wasm_i32x4_add(sum, addend);
}

ETCH_INLINE Register to_floats(Integers x) noexcept {
    return {wasm_f32x4_convert_i32x4(x)};
}
