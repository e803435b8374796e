// SPDX-License-Identifier: Apache-2.0
// Where the sums of rows begin, the same in every column: what shifts and signs of a tile will add, taken away.
// Included inside the namespace of avx2, behind steps_s8.inl.

// Of at most kShortRow values.
template <class Weights>
ETCH_INLINE std::int32_t short_first_sum(const std::uint8_t* a, std::uint32_t k) noexcept {
    return weighted_sum(a, k, [&](__m256i words) ETCH_INLINE_BODY {
        return Weights::kNeedsSigns ? _mm256_srai_epi16(words, 15) : _mm256_set1_epi16(-Weights::kShift);
    });
}

// What a step with signs adds to the sum of a row whose shift is taken away: shift * a, and -a of negative values.
template <class Weights>
ETCH_INLINE std::int32_t signed_first_sum(const std::uint8_t* a) noexcept {
    const __m128i values = _mm_cvtepi8_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(a)));
    const __m128i factors = _mm_add_epi16(_mm_srai_epi16(values, 15), _mm_set1_epi16(Weights::kShift));
    return sum_of_lanes(_mm_madd_epi16(values, factors));
}

// sums += what all steps with signs add, of `rows` rows of a.
template <class Weights>
ETCH_INLINE void add_signed_first_sums(const std::uint8_t* a, const std::uint8_t* masks, std::size_t stride,
                                       std::uint32_t k, std::uint32_t rows, std::int32_t* sums) noexcept {
    const auto add = [&](std::size_t step) ETCH_INLINE_BODY {
        for (std::uint32_t r = 0; r < rows; ++r)
            sums[r] += signed_first_sum<Weights>(a + r * stride + step * kStep);
    };
    std::uint32_t groups = (k + 3) / 4;
    for (std::uint32_t block = 0; groups >= 2; ++block) {
        const std::uint32_t count = groups / 2 < kBlockSteps ? groups / 2 : kBlockSteps;
        std::uint64_t left = steps_of<Weights>(masks, stride, rows, block, count).with_signs(count);
        for (; left != 0; left = without_lowest(left))
            add(lowest(left));
        a += count * kStep;
        groups -= count * 2;
    }
    if (groups > 0) add(0);  // behind these 4 values are 4 zeros
}

// Of at most kTileRows rows from `row` on.
template <class Weights>
ETCH_INLINE void find_first_sums_of_tile(const MatmulS8& m, std::uint32_t row, std::uint32_t rows,
                                         std::int32_t* sums) noexcept {
    const std::size_t stride = m.a.stride_bytes;
    const std::uint8_t* const a = m.a.data + row * stride;
    if (m.k <= kShortRow) {
        for (std::uint32_t r = 0; r < rows; ++r)
            sums[r] = short_first_sum<Weights>(a + r * stride, m.k);
        return;
    }
    const std::uint8_t* const masks = masks_of(m.a.data, m.k) + row * stride;
    for (std::uint32_t r = 0; r < rows; ++r)
        sums[r] = -Weights::kShift * sum_of_row(masks + r * stride, m.k);
    if constexpr (Weights::kNeedsSigns) add_signed_first_sums<Weights>(a, masks, stride, m.k, rows, sums);
}

// Of all of m's rows. Out of line: GCC 12 spills the sums of a function that calls another one.
template <class Weights>
ETCH_NOINLINE void find_first_sums(const MatmulS8& m, std::int32_t* sums) noexcept {
    for (std::uint32_t row = 0; row < m.rows; row += kTileRows)
        find_first_sums_of_tile<Weights>(m, row, m.rows - row < kTileRows ? m.rows - row : kTileRows, sums + row);
}
