// SPDX-License-Identifier: Apache-2.0
// The encoding and the Products of avx2_s7: rows are plain s8. Included inside its namespace, behind avx2/tile_s8.inl.

constexpr std::uint8_t kEncodedBytes = 1;

// Encodes rne(x), |x| <= 127.
ETCH_INLINE void encode_16(Floats x, std::uint8_t* encoded) noexcept {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(encoded), round_to_bytes(x));
}

// Sum over a row of q * Products::factor(q).
template <class Products>
ETCH_INLINE std::int32_t weighted_sum(const std::uint8_t* a, std::uint32_t k) noexcept {
    __m256i sums = _mm256_setzero_si256();
    for (std::uint32_t i = 0; i < k; i += 16) {
        const __m256i words = _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(a + i)));
        sums = _mm256_add_epi32(sums, _mm256_madd_epi16(words, Products::factor(words)));
    }
    return sum_of_lanes(_mm256_add_epi32(sums, _mm256_srli_epi64(sums, 32)));
}

// Weights in [-63, 63] as the unsigned operand: w + 64 is in [1, 127], and a pair at most 2 * 127 * 127 = 32,258. What
// the 64 contribute, 64 * sum of a, is one number for a row. That no row needs sign masks saves two of eight vector
// operations, and one of two loads of a.
struct ShiftedWeights {
    static constexpr unsigned kGroupBytes = 4;
    static constexpr unsigned kGroupsOfOneRow = 4;
    using Row = __m256i;

    static std::int32_t first_sum(const std::uint8_t* a, std::uint32_t k) noexcept {
        return weighted_sum<ShiftedWeights>(a, k);
    }
    static __m256i factor(__m256i) noexcept { return _mm256_set1_epi16(-64); }
    static Row row(const std::uint8_t* a) noexcept { return broadcast_4_bytes(a); }
    static __m256i weights(__m256i w) noexcept { return _mm256_add_epi8(w, _mm256_set1_epi8(64)); }
    static __m256i pairs(Row a, __m256i w) noexcept { return _mm256_maddubs_epi16(w, a); }
};

// Any s8 weights, as avx2 multiplies them, with signs and magnitudes made of the values on the way: two operations more
// for 4 k of a row.
struct PlainRows {
    static constexpr unsigned kGroupBytes = 4;
    static constexpr unsigned kGroupsOfOneRow = 1;  // of more GCC 12 moves a sum
    struct Row {
        __m256i signs;
        __m256i magnitudes;
    };

    static std::int32_t first_sum(const std::uint8_t* a, std::uint32_t k) noexcept {
        return weighted_sum<PlainRows>(a, k);
    }
    static __m256i factor(__m256i q) noexcept { return _mm256_srai_epi16(q, 15); }  // -1 for a negative value, else 0
    static Row row(const std::uint8_t* a) noexcept {
        const __m256i four = broadcast_4_bytes(a);
        return {_mm256_cmpgt_epi8(_mm256_setzero_si256(), four), _mm256_abs_epi8(four)};
    }
    static __m256i weights(__m256i w) noexcept { return w; }
    static __m256i pairs(Row a, __m256i w) noexcept {
        return _mm256_maddubs_epi16(a.magnitudes, _mm256_xor_si256(w, a.signs));
    }
};

// The same of rows without a negative value, as probabilities are: they are the unsigned operand, and sums begin at 0.
struct NonNegativeRows {
    static constexpr unsigned kGroupBytes = 4;
    static constexpr unsigned kGroupsOfOneRow = 4;
    using Row = __m256i;

    static Row row(const std::uint8_t* a) noexcept { return broadcast_4_bytes(a); }
    static __m256i weights(__m256i w) noexcept { return w; }
    static __m256i pairs(Row a, __m256i w) noexcept { return _mm256_maddubs_epi16(a, w); }
};

void matmul_s8(const MatmulS8& m, std::uint32_t first_panel, std::uint32_t last_panel) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountMatmulS8);
    for (std::uint32_t row = 0; row < m.rows; row += kChunkRows) {
        const MatmulS8 chunk = rows_of(m, row, kChunkRows);
        std::int32_t first_sums[kChunkRows];
        if (find_first_sums<PlainRows>(chunk, first_sums)) {
            multiply_chunk_s8<PlainRows>(chunk, first_sums, first_panel, last_panel);
        } else {
            multiply_chunk_s8<NonNegativeRows>(chunk, first_sums, first_panel, last_panel);
        }
    }
}

void matmul_s7(const MatmulS8& m, std::uint32_t first_panel, std::uint32_t last_panel) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountMatmulS7);
    multiply_s8<ShiftedWeights>(m, first_panel, last_panel);
}
