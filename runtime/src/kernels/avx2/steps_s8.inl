// SPDX-License-Identifier: Apache-2.0
// Which steps of 8 k the rows of a tile allow to be multiplied in which way, by weights of 8 and of 7 bits. Included
// inside the namespace of avx2, behind row_s8.inl.

constexpr std::uint32_t kTileRows = 3;

// The lowest `count`, at most 64.
ETCH_INLINE std::uint64_t lowest_bits(std::uint32_t count) noexcept {
    return count < kBlockSteps ? (std::uint64_t{1} << count) - 1 : ~std::uint64_t{0};
}

// The steps of a block, as tile_s8.inl multiplies them.
struct Steps {
    std::uint64_t paired;
    std::uint64_t single;

    // The others of `count`.
    ETCH_INLINE std::uint64_t with_signs(std::uint32_t count) const noexcept {
        return lowest_bits(count) & ~paired & ~single;
    }
};

struct Weights8 {
    static constexpr std::int32_t kShift = 128;
    static constexpr bool kNeedsSigns = true;  // of short rows, and of steps that are neither paired nor single
    static constexpr bool kMostlyPaired = false;

    static __m256i shifted(__m256i w) noexcept { return _mm256_xor_si256(w, _mm256_set1_epi8(-128)); }
    static Steps steps(const StepMasks& allowed, std::uint64_t all) noexcept {
        const std::uint64_t paired = allowed.paired & all;
        return {paired, allowed.single & all & ~paired};
    }
};

// In [-63, 63].
struct Weights7 {
    static constexpr std::int32_t kShift = 64;
    static constexpr bool kNeedsSigns = false;
    static constexpr bool kMostlyPaired = true;  // nearly all steps of a model's rows

    static __m256i shifted(__m256i w) noexcept { return _mm256_add_epi8(w, _mm256_set1_epi8(64)); }
    static Steps steps(const StepMasks& allowed, std::uint64_t all) noexcept {
        return {allowed.paired_s7 & all, all & ~allowed.paired_s7};
    }
};

// Of the `count` steps of a block, by the index-th masks of `rows` rows. Word by word: GCC 12 copies whole masks
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

// Of the first block of the rows from `row` on that are a tile of m; none of short rows.
template <class Weights>
ETCH_INLINE Steps first_steps(const MatmulS8& m, std::uint32_t row) noexcept {
    if (m.k <= kShortRow) return {};
    const std::uint32_t steps = (m.k + 3) / 4 / 2;
    const std::uint8_t* const masks = masks_of(m.a.data, m.k) + row * m.a.stride_bytes;
    return steps_of<Weights>(masks, m.a.stride_bytes, m.rows - row < kTileRows ? m.rows - row : kTileRows, 0,
                             steps < kBlockSteps ? steps : kBlockSteps);
}

// Loops over the bits of a mask: for (std::uint64_t left = mask; left != 0; left = without_lowest(left)).
ETCH_INLINE std::size_t lowest(std::uint64_t bits) noexcept {
    return static_cast<unsigned>(__builtin_ctzll(bits));
}
ETCH_INLINE std::uint64_t without_lowest(std::uint64_t bits) noexcept {
    return bits & (bits - 1);
}
