// SPDX-License-Identifier: Apache-2.0
// s8 x s8 -> s32 -> f32, tiles of 4 rows x 16 columns, the whole K in registers. Included inside the namespace of avx2.
//
// a       [rows][k], encoded in groups of 8 bytes, each 4 sign masks (-1 for a negative value, else 0), then their 4
//         magnitudes; zeros up to a multiple of kEncodedPadding values; row stride in bytes, any alignment.
// weights [n][allocated_k] s8 in Packing::panel, made by codegen/pack.py or by the Pack ops; any alignment.
// out     [rows][n] f32, row stride out_stride floats; columns from n on are not touched. residual may be out.
// Any rows (tails of 1 to 3 rows have their own tiles), any n (the last panel is stored by mask), any k.
//
// The products without the sign operation: with s the sign mask of a (0 or -1), a * w = |a| * (w ^ s) + (|a| & s), for
// w ^ -1 = -w - 1. The second term does not depend on the column: its sum over a row is where the row's sums begin.
// Per 4 k and 8 columns: vpxor; vpmaddubsw, which multiplies by |a| and adds pairs (at most 2 * 127 * 128 = 32,512, no
// saturation: |a| <= 127); vpmaddwd by ones, which adds pairs of those to int32; vpaddd. vpsignb would need no second
// term, but runs on the multipliers' ports of Zen 3 and Zen 4, which are the bottleneck (12 cycles a group, not 8).

constexpr std::uint8_t kEncodedBytes = 2;

// Encodes rne(x), |x| <= 127.
ETCH_INLINE void encode_16(Floats x, std::uint8_t* encoded) noexcept {
    const __m256i words = round_to_words(x);
    const __m256i bytes = _mm256_packs_epi16(_mm256_srai_epi16(words, 15), _mm256_abs_epi16(words));
    const __m256i order = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(encoded), _mm256_permutevar8x32_epi32(bytes, order));
}

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

// Sum of |a| over the negative values of a row: of (magnitudes & sign masks).
ETCH_INLINE std::int32_t sum_of_negatives(const std::uint8_t* a, std::uint32_t k) noexcept {
    __m256i sums = _mm256_setzero_si256();
    for (std::uint32_t i = 0; i < k; i += 16) {
        const __m256i groups = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(a + std::size_t{2} * i));
        const __m256i negatives = _mm256_and_si256(groups, _mm256_srli_epi64(groups, 32));
        sums = _mm256_add_epi32(sums, _mm256_sad_epu8(negatives, _mm256_setzero_si256()));
    }
    const __m128i two = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    return _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_unpackhi_epi64(two, two)));
}

struct TileS8 {
    static constexpr unsigned kPanels = 1;
    static constexpr unsigned kMaxRows = 4;

    // negatives: sum_of_negatives of each row of m.
    template <unsigned kRows>
    static ETCH_INLINE void run(const MatmulS8& m, const std::int32_t* const& negatives, const Columns<1>& columns,
                                const std::int8_t* weights, std::uint32_t row) noexcept {
        const std::size_t a_stride = m.a.stride_bytes;
        const std::uint8_t* a = m.a.data + row * a_stride;
        const std::uint32_t groups = (m.k + 3) / 4;
        const __m256i ones = _mm256_set1_epi16(1);
        Ints sums[kRows][1];
        ETCH_UNROLL
        for (unsigned r = 0; r < kRows; ++r)
            sums[r][0].low = sums[r][0].high = _mm256_set1_epi32(negatives[row + r]);

        const auto add_group = [&]() ETCH_INLINE_BODY {
            const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(weights));
            const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(weights + 32));
            weights += 64;
            ETCH_UNROLL
            for (unsigned r = 0; r < kRows; ++r) {
                const __m256i signs = broadcast_4_bytes(a + r * a_stride);
                const __m256i magnitudes = broadcast_4_bytes(a + r * a_stride + 4);
                const __m256i low_pairs = _mm256_maddubs_epi16(magnitudes, _mm256_xor_si256(low, signs));
                const __m256i high_pairs = _mm256_maddubs_epi16(magnitudes, _mm256_xor_si256(high, signs));
                accumulate(sums[r][0].low, _mm256_madd_epi16(low_pairs, ones));
                accumulate(sums[r][0].high, _mm256_madd_epi16(high_pairs, ones));
            }
            a += 8;
        };
        std::uint32_t g = 0;
        if constexpr (kRows == 1) {  // there is little to do for a line of weights: the loop's own part shows
            for (; g + 4 <= groups; g += 4) {
                ETCH_UNROLL
                for (unsigned i = 0; i < 4; ++i)
                    add_group();
            }
        }
        for (; g < groups; ++g)
            add_group();
        finish_tile_s8(m, row, columns, sums);
    }
};

// The hardware follows the weights within a panel, but not from its last row tile to the next panel: 4 to 5 % at 44
// rows, on Zen 3. Where rows are few it follows from panel to panel, and would be held up: one row takes 1.6 times as
// long, 8 a tenth more, on Zen 4.
ETCH_INLINE void prefetch(const std::int8_t* weights, std::size_t bytes) noexcept {
    for (std::size_t i = 0; i < bytes; i += 64)
        _mm_prefetch(reinterpret_cast<const char*>(weights + i), _MM_HINT_T1);
}

constexpr std::uint32_t kFewRows = 16;

// Rows that stay in L2 while the weights pass by.
constexpr std::uint32_t kChunkRows = 64;

// m has at most kChunkRows rows.
void multiply_chunk_s8(const MatmulS8& m, std::uint32_t first_panel, std::uint32_t last_panel) noexcept {
    std::int32_t negatives[kChunkRows];
    for (std::uint32_t row = 0; row < m.rows; ++row)
        negatives[row] = sum_of_negatives(m.a.data + row * m.a.stride_bytes, m.k);
    const std::size_t panel_bytes = std::size_t{(m.allocated_k + 3) / 4} * 64;
    const std::int32_t* const first_negative = negatives;
    for (std::uint32_t panel = first_panel; panel < last_panel; ++panel) {
        const std::int8_t* weights = m.weights + panel * panel_bytes;
        if (m.rows > kFewRows && panel + 1 < last_panel) prefetch(weights + panel_bytes, panel_bytes);
        for_each_tile<TileS8>(m, first_negative, Columns<1>(panel, m.n, m.column_scales, m.bias), weights);
    }
}

void matmul_s8(const MatmulS8& m, std::uint32_t first_panel, std::uint32_t last_panel) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountMatmulS8);
    for (std::uint32_t row = 0; row < m.rows; row += kChunkRows)
        multiply_chunk_s8(rows_of(m, row, kChunkRows), first_panel, last_panel);
}
