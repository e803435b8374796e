// SPDX-License-Identifier: Apache-2.0
// Integers in a register, what matmul_words.inl is written with. Included inside the namespace of sse2.

using Integers = __m128i;

ETCH_INLINE Integers load_integers(const void* p) noexcept {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
}
ETCH_INLINE void store_integers(void* p, Integers x) noexcept {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), x);
}

ETCH_INLINE Integers load_four_words(const std::uint8_t* p) noexcept {
    return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
}
// One of the pairs of words in place of all four.
template <unsigned kPair>
ETCH_INLINE Integers repeat_pair(Integers words) noexcept {
    return _mm_shuffle_epi32(words, kPair * 0x55);
}

// Each four int16 in the order 0, 2, 1, 3.
ETCH_INLINE Integers swap_middle(Integers words) noexcept {
    return _mm_shufflehi_epi16(_mm_shufflelo_epi16(words, _MM_SHUFFLE(3, 1, 2, 0)), _MM_SHUFFLE(3, 1, 2, 0));
}

// The signed low or high byte of each int16.
ETCH_INLINE Integers low_bytes(Integers words) noexcept {
    return _mm_srai_epi16(_mm_slli_epi16(words, 8), 8);
}
ETCH_INLINE Integers high_bytes(Integers words) noexcept {
    return _mm_srai_epi16(words, 8);
}

// x[2 i] * y[2 i] + x[2 i + 1] * y[2 i + 1] of int16, as int32.
ETCH_INLINE Integers add_pairs_of_products(Integers x, Integers y) noexcept {
    return _mm_madd_epi16(x, y);
}

// sum += addend per int32 lane. Written as assembly because GCC 12 otherwise adds into another register and moves or
// spills the sums on every turn of the loop.
ETCH_INLINE void accumulate(Integers& sum, Integers addend) noexcept {
    asm("paddd %1, %0" : "+x"(sum) : "x"(addend));
}

ETCH_INLINE Register to_floats(Integers x) noexcept {
    return {_mm_cvtepi32_ps(x)};
}
