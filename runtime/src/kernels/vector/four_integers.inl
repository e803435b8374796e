// SPDX-License-Identifier: Apache-2.0
// Sixteen int32 in four registers, for the sets sse2 and wasm_simd. Included inside their namespaces, behind their
// words.inl.

struct Ints {
    Integers quarters[4];
};

ETCH_INLINE Ints load_ints(const std::int32_t* p) noexcept {
    return {{load_integers(p), load_integers(p + 4), load_integers(p + 8), load_integers(p + 12)}};
}
ETCH_INLINE void store_ints(std::int32_t* p, const Ints& x) noexcept {
    ETCH_UNROLL
    for (unsigned q = 0; q < 4; ++q)
        store_integers(p + q * 4, x.quarters[q]);
}
ETCH_INLINE Floats to_floats(const Ints& x) noexcept {
    return {{to_floats(x.quarters[0]), to_floats(x.quarters[1])}, {to_floats(x.quarters[2]), to_floats(x.quarters[3])}};
}
