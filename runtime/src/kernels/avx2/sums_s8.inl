// SPDX-License-Identifier: Apache-2.0
// Operands and sums of avx2's integer products. Included inside its namespace, behind steps_s8.inl.

struct Ints {
    __m256i low;
    __m256i high;
};

ETCH_INLINE Floats to_floats(Ints x) noexcept {
    return {{_mm256_cvtepi32_ps(x.low)}, {_mm256_cvtepi32_ps(x.high)}};
}

ETCH_INLINE __m256i broadcast_4_bytes(const std::uint8_t* p) noexcept {
    std::int32_t bytes;
    std::memcpy(&bytes, p, sizeof bytes);
    return _mm256_set1_epi32(bytes);
}

// sum += addend per int32 lane. Written as assembly because GCC 12 otherwise adds into another register and moves or
// spills the sums on every turn of the loop.
ETCH_INLINE void accumulate(__m256i& sum, __m256i addend) noexcept {
    asm("vpaddd %1, %0, %0" : "+x"(sum) : "x"(addend));
}

// The same per int16 lane.
ETCH_INLINE void accumulate_words(__m256i& sum, __m256i addend) noexcept {
    asm("vpaddw %1, %0, %0" : "+x"(sum) : "x"(addend));
}

constexpr std::size_t kStepBytes = 128;  // of a panel's weights for a step

// Of 4 k and 16 columns.
ETCH_INLINE Ints load_group(const std::int8_t* weights) noexcept {
    const __m256i* const halves = reinterpret_cast<const __m256i*>(weights);
    return {_mm256_loadu_si256(halves), _mm256_loadu_si256(halves + 1)};
}

template <class Weights>
ETCH_INLINE Ints load_shifted(const std::int8_t* weights) noexcept {
    const Ints w = load_group(weights);
    return {Weights::shifted(w.low), Weights::shifted(w.high)};
}

// sums += pairs, two to a lane.
ETCH_INLINE void accumulate_pairs(Ints& sums, Ints pairs) noexcept {
    const __m256i ones = _mm256_set1_epi16(1);
    accumulate(sums.low, _mm256_madd_epi16(pairs.low, ones));
    accumulate(sums.high, _mm256_madd_epi16(pairs.high, ones));
}
