// SPDX-License-Identifier: Apache-2.0
// Two steps of 8 k at once, where their sums fit into 16 bits: each lane gets eight products and is widened once.
// Included inside the namespace of avx2, behind sums_s8.inl; tile_s8.inl has the other steps.

// words * 1, two added up in an int32 lane. The ones are in memory: sums and words of three rows leave no register.
ETCH_INLINE __m256i widened(__m256i words) noexcept {
    alignas(32) static constexpr std::int16_t kOnes[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    asm("vpmaddwd %1, %0, %0" : "+x"(words) : "m"(kOnes));
    return words;
}

// sums += of 16 k. GCC 12 would load all that it is going to multiply first, and keep it on the stack: the empty asm
// holds it back.
template <class Weights, unsigned kRows>
ETCH_INLINE void add_quad(const std::uint8_t* a, std::size_t stride, const std::int8_t* weights,
                          Ints (&sums)[kRows][1]) noexcept {
    const std::uint8_t* rows[kRows];
    ETCH_UNROLL
    for (unsigned r = 0; r < kRows; ++r) {
        rows[r] = a + r * stride;
        asm("" : "+r"(rows[r]));
    }
    Ints words[kRows];
    ETCH_UNROLL
    for (unsigned group = 0; group < 4; ++group) {
        asm volatile("" : : : "memory");
        const Ints w = load_shifted<Weights>(weights + group * 64);
        ETCH_UNROLL
        for (unsigned r = 0; r < kRows; ++r) {
            const __m256i four = broadcast_4_bytes(rows[r] + group * 4);
            const Ints products = {_mm256_maddubs_epi16(w.low, four), _mm256_maddubs_epi16(w.high, four)};
            if (group == 0) {
                words[r] = products;
            } else {
                accumulate_words(words[r].low, products.low);
                accumulate_words(words[r].high, products.high);
            }
        }
    }
    ETCH_UNROLL
    for (unsigned r = 0; r < kRows; ++r) {
        accumulate(sums[r][0].low, widened(words[r].low));
        accumulate(sums[r][0].high, widened(words[r].high));
    }
}

// sums += of those of 64 steps that have a bit, two by two. Out of line: beside other loops GCC 12 keeps some of the
// sums on the stack, and has room for them here.
template <class Weights, unsigned kRows>
ETCH_NOINLINE void add_quads(std::uint64_t steps, const std::uint8_t* a, std::size_t stride, const std::int8_t* weights,
                             Ints (&out)[kRows][1]) noexcept {
    Ints sums[kRows][1];
    ETCH_UNROLL
    for (unsigned r = 0; r < kRows; ++r)
        sums[r][0] = out[r][0];
    if (steps == ~std::uint64_t{0}) {
        for (unsigned step = 0; step < 64; step += 2)
            add_quad<Weights>(a + step * kStep, stride, weights + step * kStepBytes, sums);
    } else {
        for (std::uint64_t left = steps & kEvenSteps; left != 0; left = without_lowest(left)) {
            const std::size_t step = lowest(left);
            add_quad<Weights>(a + step * kStep, stride, weights + step * kStepBytes, sums);
        }
    }
    ETCH_UNROLL
    for (unsigned r = 0; r < kRows; ++r)
        out[r][0] = sums[r][0];
}
