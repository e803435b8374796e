// SPDX-License-Identifier: Apache-2.0
// The encoding and the Products of avx2. Included inside its namespace, behind tile_s8.inl.
//
// A row is in groups of 8 bytes, each 4 sign masks (-1 for a negative value, else 0), then their 4 magnitudes. The
// products without the sign operation: with s the sign mask of a (0 or -1), a * w = |a| * (w ^ s) + (|a| & s), for
// w ^ -1 = -w - 1. The second term does not depend on the column: its sum over a row is where the row's sums begin. A
// pair is at most 2 * 127 * 128 = 32,512, no saturation: |a| <= 127. vpsignb would need no second term, but runs on the
// multipliers' ports of Zen 3 and Zen 4, which are the bottleneck (12 cycles a group, not 8).

constexpr std::uint8_t kEncodedBytes = 2;

// Encodes rne(x), |x| <= 127.
ETCH_INLINE void encode_16(Floats x, std::uint8_t* encoded) noexcept {
    const __m256i words = round_to_words(x);
    const __m256i bytes = _mm256_packs_epi16(_mm256_srai_epi16(words, 15), _mm256_abs_epi16(words));
    const __m256i order = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(encoded), _mm256_permutevar8x32_epi32(bytes, order));
}

// Sum of |a| over the negative values of a row: of (magnitudes & sign masks).
ETCH_INLINE std::int32_t sum_of_negatives(const std::uint8_t* a, std::uint32_t k) noexcept {
    __m256i sums = _mm256_setzero_si256();
    for (std::uint32_t i = 0; i < k; i += 16) {
        const __m256i groups = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(a + std::size_t{2} * i));
        const __m256i negatives = _mm256_and_si256(groups, _mm256_srli_epi64(groups, 32));
        sums = _mm256_add_epi32(sums, _mm256_sad_epu8(negatives, _mm256_setzero_si256()));
    }
    return sum_of_lanes(sums);
}

struct Magnitudes {
    static constexpr unsigned kGroupBytes = 8;
    static constexpr unsigned kGroupsOfOneRow = 4;
    struct Row {
        __m256i signs;
        __m256i magnitudes;
    };

    static std::int32_t first_sum(const std::uint8_t* a, std::uint32_t k) noexcept { return sum_of_negatives(a, k); }
    static Row row(const std::uint8_t* a) noexcept { return {broadcast_4_bytes(a), broadcast_4_bytes(a + 4)}; }
    static __m256i weights(__m256i w) noexcept { return w; }
    static __m256i pairs(Row a, __m256i w) noexcept {
        return _mm256_maddubs_epi16(a.magnitudes, _mm256_xor_si256(w, a.signs));
    }
};

void matmul_s8(const MatmulS8& m, std::uint32_t first_panel, std::uint32_t last_panel) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountMatmulS8);
    multiply_s8<Magnitudes>(m, first_panel, last_panel);
}
