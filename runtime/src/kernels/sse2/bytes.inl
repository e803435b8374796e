// SPDX-License-Identifier: Apache-2.0
// Conversion of floats to integers. Included inside the namespace of sse2.

// rne(x) as int16, in order.
ETCH_INLINE __m128i round_to_words(Pair<Register> x) noexcept {
    return _mm_packs_epi32(_mm_cvtps_epi32(x.low.lanes), _mm_cvtps_epi32(x.high.lanes));
}

template <class Lanes>
ETCH_INLINE void store_bytes(std::int8_t* q, Floats x, const Lanes& lanes) noexcept {
    const __m128i bytes = _mm_packs_epi16(round_to_words(x.low), round_to_words(x.high));
    if constexpr (std::is_same_v<Lanes, FirstLanes>) {
        std::int8_t values[16];
        _mm_storeu_si128(reinterpret_cast<__m128i*>(values), bytes);
        lanes.write_bytes(q, values);
    } else {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(q), bytes);
    }
}
