// SPDX-License-Identifier: Apache-2.0
// s8 x s4 -> s32 -> f32 for few rows, tiles of 3 rows x 16 columns: nibbles become bytes in the tile, not in scratch.
// Included inside the namespace of avx2, behind matmul_s8.inl. Operands as there; weights and factors as packing.hpp
// has them in Packing::panel, for m.k inputs.
//
// A nibble with 8 added is the unsigned operand. Within a group of 32 k the factor of a column is one, so that it
// multiplies the group's sum: of a * (q + 8), 16 to a 16-bit lane, which begins in one of a column's two lanes at -8
// times the row's sum. Of what a lane adds up the 8 is taken away from itself or from the other one: at most 16 * 127 *
// 8 + 16 * 127 * 8 = 32,512. vpmaddwd by the factor then adds both lanes up. The integers are those of the s8 product,
// and so are the bits.

struct PairSums {
    __m256i low;
    __m256i high;
};

// sum += addend per int16 lane, as accumulate().
ETCH_INLINE void accumulate_words(__m256i& sum, __m256i addend) noexcept {
    asm("vpaddw %1, %0, %0" : "+x"(sum) : "x"(addend));
}

// 32 bytes of nibbles, each number with 8 added.
ETCH_INLINE __m256i load_nibbles(const std::int8_t* p) noexcept {
    return _mm256_xor_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)), _mm256_set1_epi8(-0x78));
}

// Those in one half of each byte.
ETCH_INLINE __m256i low_nibbles(__m256i q) noexcept {
    return _mm256_and_si256(q, _mm256_set1_epi8(15));
}
ETCH_INLINE __m256i high_nibbles(__m256i q) noexcept {
    return low_nibbles(_mm256_srli_epi16(q, 4));
}

// -8 * the sum of at most 32 values of a row, in the low word of each lane.
ETCH_INLINE __m256i first_pairs(const std::uint8_t* a, std::uint32_t k) noexcept {
    const std::int32_t sum = weighted_sum(a, k, [&](__m256i) ETCH_INLINE_BODY { return _mm256_set1_epi16(-8); });
    return _mm256_set1_epi32(sum & 0xFFFF);
}

// Each of 8 factors in both words of a lane.
ETCH_INLINE __m256i factors_of_8(const std::uint8_t* factors) noexcept {
    const __m256i one = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(factors)));
    return _mm256_or_si256(one, _mm256_slli_epi32(one, 16));
}

struct TileS4 {
    static constexpr unsigned kMaxRows = 3;

    template <unsigned kRows>
    static ETCH_NOINLINE void run(const MatmulS8& m, const std::uint8_t* factors, const Columns<1>& columns,
                                  const std::int8_t* weights, std::uint32_t row) noexcept {
        const std::size_t a_stride = m.a.stride_bytes;
        const std::uint8_t* a = m.a.data + row * a_stride;
        Ints sums[kRows][1];
        ETCH_UNROLL
        for (unsigned r = 0; r < kRows; ++r)
            sums[r][0].low = sums[r][0].high = _mm256_setzero_si256();

        for (std::uint32_t k = 0; k < m.k; k += kS4Group) {
            const std::uint32_t inputs = m.k - k < kS4Group ? m.k - k : kS4Group;
            PairSums pairs[kRows];
            ETCH_UNROLL
            for (unsigned r = 0; r < kRows; ++r)
                pairs[r].low = pairs[r].high = first_pairs(a + r * a_stride, inputs);
            for (std::uint32_t i = 0; i < inputs; i += 8) {
                multiply_8(a, a_stride, load_nibbles(weights), load_nibbles(weights + 32), pairs);
                weights += 64;
                a += 8;
            }
            const __m256i low_factors = factors_of_8(factors);
            const __m256i high_factors = factors_of_8(factors + 8);
            factors += 16;
            ETCH_UNROLL
            for (unsigned r = 0; r < kRows; ++r) {
                sums[r][0].low = _mm256_add_epi32(sums[r][0].low, _mm256_madd_epi16(pairs[r].low, low_factors));
                sums[r][0].high = _mm256_add_epi32(sums[r][0].high, _mm256_madd_epi16(pairs[r].high, high_factors));
            }
        }
        finish_tile_s8(m, row, columns, sums);
    }

  private:
    // pairs += the products of 8 k: in the one half of columns one by one, in the other together, for GCC 12 moves sums
    // of one row in the one way and has too few registers for three rows in the other.
    template <unsigned kRows>
    static ETCH_INLINE void multiply_8(const std::uint8_t* a, std::size_t a_stride, __m256i low, __m256i high,
                                       PairSums (&pairs)[kRows]) noexcept {
        const PairSums w0 = {low_nibbles(low), low_nibbles(high)};
        const PairSums w1 = {high_nibbles(low), high_nibbles(high)};
        ETCH_UNROLL
        for (unsigned r = 0; r < kRows; ++r) {
            const __m256i a0 = broadcast_4_bytes(a + r * a_stride);
            const __m256i a1 = broadcast_4_bytes(a + r * a_stride + 4);
            accumulate_words(pairs[r].low, _mm256_maddubs_epi16(w0.low, a0));
            accumulate_words(pairs[r].low, _mm256_maddubs_epi16(w1.low, a1));
            accumulate_words(pairs[r].high,
                             _mm256_add_epi16(_mm256_maddubs_epi16(w0.high, a0), _mm256_maddubs_epi16(w1.high, a1)));
        }
    }
};

void matmul_s4(const MatmulS8& m, const std::uint8_t* factors, std::uint32_t first_panel,
               std::uint32_t last_panel) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountMatmulS8);
    for (std::uint32_t panel = first_panel; panel < last_panel; ++panel) {
        const std::uint8_t* const own = factors + packed_s4_factors(Packing::panel, panel * 16, m.k);
        for_each_tile<TileS4>(m, own, Columns<1>(panel, m.n, m.column_scales, m.bias),
                              m.weights + packed_s4_bytes(Packing::panel, panel * 16, m.k));
    }
}
