// SPDX-License-Identifier: Apache-2.0
// s8 x s8 -> s32 -> f32, tiles of 4 rows x 16 columns, the whole K in registers. Included inside the namespaces of avx2
// and avx2_s7, behind tiles.inl and before their Products.
//
// a       [rows][k] in the set's encoding, zeros up to a multiple of kEncodedPadding values; row stride in bytes, any
//         alignment.
// weights [n][allocated_k] s8 in Packing::panel, made by codegen/pack.py or by the Pack ops; any alignment.
// out     [rows][n] f32, row stride out_stride floats; columns from n on are not touched. residual may be out.
// Any rows (tails of 1 to 3 rows have their own tiles), any n (the last panel is stored by mask), any k.
//
// Per 4 k and 8 columns: vpmaddubsw, which multiplies unsigned by signed bytes and adds pairs; vpmaddwd by ones, which
// adds pairs of those to int32; vpaddd. Products say which operand is unsigned and how, so that no pair saturates, and
// where a row's sums begin for it:
//     kGroupBytes           of 4 k of an encoded row
//     kGroupsOfOneRow       that a loop takes at a time: one row has little to do for a line of weights, and the loop's
//                           own part shows
//     first_sum(a, k)       of a row
//     struct Row, row(a)    4 k of it, broadcast
//     weights(w)            the other operand, of 4 k of 8 columns
//     pairs(row, weights)   sums of two products each

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

// Of the two int64 lanes of each half.
ETCH_INLINE std::int32_t sum_of_lanes(__m256i x) noexcept {
    const __m128i two = _mm_add_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
    return _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_unpackhi_epi64(two, two)));
}

template <class Products>
struct TileS8 {
    static constexpr unsigned kPanels = 1;
    static constexpr unsigned kMaxRows = 4;

    // first_sums: of each row of m.
    template <unsigned kRows>
    static ETCH_INLINE void run(const MatmulS8& m, const std::int32_t* const& first_sums, const Columns<1>& columns,
                                const std::int8_t* weights, std::uint32_t row) noexcept {
        const std::size_t a_stride = m.a.stride_bytes;
        const std::uint8_t* a = m.a.data + row * a_stride;
        const std::uint32_t groups = (m.k + 3) / 4;
        const __m256i ones = _mm256_set1_epi16(1);
        Ints sums[kRows][1];
        ETCH_UNROLL
        for (unsigned r = 0; r < kRows; ++r)
            sums[r][0].low = sums[r][0].high = _mm256_set1_epi32(first_sums[row + r]);

        const auto add_group = [&]() ETCH_INLINE_BODY {
            const __m256i* const halves = reinterpret_cast<const __m256i*>(weights);
            const __m256i low = Products::weights(_mm256_loadu_si256(halves));
            const __m256i high = Products::weights(_mm256_loadu_si256(halves + 1));
            weights += 64;
            ETCH_UNROLL
            for (unsigned r = 0; r < kRows; ++r) {
                const typename Products::Row four = Products::row(a + r * a_stride);
                const __m256i low_pairs = Products::pairs(four, low);
                const __m256i high_pairs = Products::pairs(four, high);
                accumulate(sums[r][0].low, _mm256_madd_epi16(low_pairs, ones));
                accumulate(sums[r][0].high, _mm256_madd_epi16(high_pairs, ones));
            }
            a += Products::kGroupBytes;
        };
        std::uint32_t g = 0;
        if constexpr (kRows == 1) {
            for (; g + Products::kGroupsOfOneRow <= groups; g += Products::kGroupsOfOneRow) {
                ETCH_UNROLL
                for (unsigned i = 0; i < Products::kGroupsOfOneRow; ++i)
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

// Where the sums of m's rows begin, at most kChunkRows; whether any of them is not 0.
template <class Products>
ETCH_INLINE bool find_first_sums(const MatmulS8& m, std::int32_t (&sums)[kChunkRows]) noexcept {
    std::int32_t any = 0;
    for (std::uint32_t row = 0; row < m.rows; ++row) {
        sums[row] = Products::first_sum(m.a.data + row * m.a.stride_bytes, m.k);
        any |= sums[row];
    }
    return any != 0;
}

// m has at most kChunkRows rows.
template <class Products>
ETCH_NOINLINE void multiply_chunk_s8(const MatmulS8& m, const std::int32_t* first_sums, std::uint32_t first_panel,
                                     std::uint32_t last_panel) noexcept {
    const std::size_t panel_bytes = std::size_t{(m.allocated_k + 3) / 4} * 64;
    for (std::uint32_t panel = first_panel; panel < last_panel; ++panel) {
        const std::int8_t* weights = m.weights + panel * panel_bytes;
        if (m.rows > kFewRows && panel + 1 < last_panel) prefetch(weights + panel_bytes, panel_bytes);
        for_each_tile<TileS8<Products>>(m, first_sums, Columns<1>(panel, m.n, m.column_scales, m.bias), weights);
    }
}

template <class Products>
ETCH_INLINE void multiply_s8(const MatmulS8& m, std::uint32_t first_panel, std::uint32_t last_panel) noexcept {
    for (std::uint32_t row = 0; row < m.rows; row += kChunkRows) {
        const MatmulS8 chunk = rows_of(m, row, kChunkRows);
        std::int32_t first_sums[kChunkRows];
        find_first_sums<Products>(chunk, first_sums);
        multiply_chunk_s8<Products>(chunk, first_sums, first_panel, last_panel);
    }
}
