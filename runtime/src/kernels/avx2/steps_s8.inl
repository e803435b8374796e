// SPDX-License-Identifier: Apache-2.0
// Which steps of 8 k the rows of a tile allow to be multiplied in which way, by weights of 8 and of 7 bits. Included
// inside the namespace of avx2, behind row_s8.inl.

// At most 64 steps. Each has a bit in one of the three: how tile_s8.inl multiplies it.
struct Steps {
    std::uint64_t paired;
    std::uint64_t single;
    std::uint64_t with_signs;
};

struct Weights8 {
    static constexpr std::int32_t kShift = 128;
    static constexpr bool kNeedsSigns = true;  // of short rows, and of steps that are neither paired nor single
    static constexpr bool kMostlyPaired = false;

    static __m256i shifted(__m256i w) noexcept { return _mm256_xor_si256(w, _mm256_set1_epi8(-128)); }
    static Steps steps(const StepMasks& allowed, std::uint64_t all) noexcept {
        const std::uint64_t paired = allowed.paired & all;
        const std::uint64_t single = allowed.single & all & ~paired;
        return {paired, single, all & ~paired & ~single};
    }
};

// In [-63, 63].
struct Weights7 {
    static constexpr std::int32_t kShift = 64;
    static constexpr bool kNeedsSigns = false;
    static constexpr bool kMostlyPaired = true;  // nearly all steps of a model's rows

    static __m256i shifted(__m256i w) noexcept { return _mm256_add_epi8(w, _mm256_set1_epi8(64)); }
    static Steps steps(const StepMasks& allowed, std::uint64_t all) noexcept {
        return {allowed.paired_s7 & all, all & ~allowed.paired_s7, 0};
    }
};

// The lowest `count`, at most 64.
ETCH_INLINE std::uint64_t lowest_bits(std::uint32_t count) noexcept {
    return count < 64 ? (std::uint64_t{1} << count) - 1 : ~std::uint64_t{0};
}

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
    const StepMasks allowed = {of_all_rows(offsetof(StepMasks, paired)), of_all_rows(offsetof(StepMasks, single)),
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
