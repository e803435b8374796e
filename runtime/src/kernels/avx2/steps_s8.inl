// SPDX-License-Identifier: Apache-2.0
// Which steps of 8 k the rows of a tile allow to be multiplied in which way, by weights of 8 and of 7 bits. Included
// inside the namespace of avx2, behind row_s8.inl.

// At most 64 steps. Each has a bit in one of the four: how tile_s8.inl multiplies it.
struct Steps {
    std::uint64_t quad;  // it and its neighbour: both have the bit
    std::uint64_t paired;
    std::uint64_t single;
    std::uint64_t with_signs;
};

// The lowest `count`, at most 64.
ETCH_INLINE std::uint64_t lowest_bits(std::uint32_t count) noexcept {
    return count < 64 ? (std::uint64_t{1} << count) - 1 : ~std::uint64_t{0};
}

constexpr std::uint64_t kEvenSteps = 0x5555555555555555;

// From so many steps on quads are worth what their loop costs, a function of its own.
constexpr int kFewestQuadSteps = 52;

// The quads among `all` steps; of an odd number of steps the last is not one.
ETCH_INLINE std::uint64_t quads_of(std::uint64_t allowed, std::uint64_t all) noexcept {
    const std::uint64_t even = allowed & all >> 1 & kEvenSteps;
    const std::uint64_t quads = even | even << 1;
    return __builtin_popcountll(quads) < kFewestQuadSteps ? 0 : quads;
}

struct Weights8 {
    static constexpr std::int32_t kShift = 128;
    static constexpr bool kNeedsSigns = true;  // of short rows, and of steps that are neither paired nor single
    static constexpr bool kMostlyPaired = false;

    static __m256i shifted(__m256i w) noexcept { return _mm256_xor_si256(w, _mm256_set1_epi8(-128)); }
    static Steps steps(const StepMasks& allowed, std::uint64_t all) noexcept {
        const std::uint64_t quad = quads_of(allowed.quad, all);
        const std::uint64_t paired = allowed.paired & all & ~quad;
        const std::uint64_t single = allowed.single & all & ~quad & ~paired;
        return {quad, paired, single, all & ~quad & ~paired & ~single};
    }
};

// In [-63, 63].
struct Weights7 {
    static constexpr std::int32_t kShift = 64;
    static constexpr bool kNeedsSigns = false;
    static constexpr bool kMostlyPaired = true;  // nearly all steps of a model's rows

    static __m256i shifted(__m256i w) noexcept { return _mm256_add_epi8(w, _mm256_set1_epi8(64)); }
    static Steps steps(const StepMasks& allowed, std::uint64_t all) noexcept {
        const std::uint64_t quad = quads_of(allowed.quad_s7, all);
        const std::uint64_t paired = allowed.paired_s7 & all & ~quad;
        return {quad, paired, all & ~quad & ~paired, 0};
    }
};

// Of the first `count` steps that the index-th masks of `rows` rows are of. Word by word: GCC 12 copies whole masks
// through the stack.
template <class Weights>
ETCH_INLINE Steps steps_of(const std::uint8_t* masks, std::size_t stride, std::uint32_t rows, std::uint32_t index,
                           std::uint32_t count) noexcept {
    masks += index * sizeof(StepMasks);
    const auto of_all_rows = [&](std::size_t offset) ETCH_INLINE_BODY {
        std::uint64_t all = ~std::uint64_t{0};
        ETCH_UNROLL
        for (std::uint32_t r = 0; r < rows; ++r) {
            std::uint64_t row;
            std::memcpy(&row, masks + r * stride + offset, sizeof row);
            all &= row;
        }
        return all;
    };
    const StepMasks allowed = {of_all_rows(offsetof(StepMasks, quad)), of_all_rows(offsetof(StepMasks, paired)),
                               of_all_rows(offsetof(StepMasks, single)), of_all_rows(offsetof(StepMasks, quad_s7)),
                               of_all_rows(offsetof(StepMasks, paired_s7))};
    return Weights::steps(allowed, lowest_bits(count));
}

// Loops over the bits of a mask: for (std::uint64_t left = mask; left != 0; left = without_lowest(left)).
ETCH_INLINE std::size_t lowest(std::uint64_t bits) noexcept {
    return static_cast<unsigned>(__builtin_ctzll(bits));
}
ETCH_INLINE std::uint64_t without_lowest(std::uint64_t bits) noexcept {
    return bits & (bits - 1);
}
