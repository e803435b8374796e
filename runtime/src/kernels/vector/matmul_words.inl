// SPDX-License-Identifier: Apache-2.0
// s8 x s8 -> s32 -> f32 where an instruction adds the products of two pairs of int16 to an int32, tiles of 2 rows x 16
// columns, the whole K in registers. Included inside the namespaces of sse2 and wasm_simd, behind finish_panel.inl.
//
// a       [rows][k], encoded as int16, each 4 values in the order 0, 2, 1, 3; zeros up to a multiple of kEncodedPadding
//         values; row stride in bytes, any alignment.
// weights [n][allocated_k] s8 in Packing::panel, made by codegen/pack or by the Pack ops; any alignment.
// out     [rows][n] f32, row stride out_stride floats; columns from n on are not touched. residual may be out.
// Any rows, any n (the last panel may be cut), any k.
//
// A register of weights is 4 columns x 4 k. As int16, its low bytes are k = 0 and 2 of each column and its high bytes k
// = 1 and 3: two shifts widen the one, one shift the other, and pmaddwd adds the products of a pair. 8 sums, 4
// registers of a and 2 of weights are 14 of the 16.
//
// Up to kFewRows rows widen the weights as they go, 12 shifts for every 16 multiplications and 16 additions. More rows
// share what was widened: kChunk k of a panel at a time into a buffer, which up to kBlockRows rows are multiplied by,
// two by two; between chunks their sums are in memory.

constexpr std::uint8_t kEncodedBytes = 2;

// Encodes rne(x), |x| <= 127.
ETCH_INLINE void encode_16(Floats x, std::uint8_t* encoded) noexcept {
    store_integers(encoded, swap_middle(round_to_words(x.low)));
    store_integers(encoded + 16, swap_middle(round_to_words(x.high)));
}

// 4 columns x 4 k of weights as int16.
struct Widened {
    Integers even;  // k = 0 and 2 of each column
    Integers odd;   // k = 1 and 3
};
ETCH_INLINE Widened widen(const std::int8_t* weights) noexcept {
    const Integers w = load_integers(weights);
    return {low_bytes(w), high_bytes(w)};
}

// The next words of kRows rows, one register a row: four of them, or eight.
template <bool kEight, unsigned kRows>
ETCH_INLINE void load_rows(Integers (&words)[kRows], const std::uint8_t* a, std::size_t a_stride) noexcept {
    ETCH_UNROLL
    for (unsigned r = 0; r < kRows; ++r)
        words[r] = kEight ? load_integers(a + r * a_stride) : load_four_words(a + r * a_stride);
}

// sums += the products of kRows rows and 2 k of a panel: of `words`, one register a row, the pair kPair; words_of(q) is
// those of columns 4 q to 4 q + 3.
template <unsigned kPair, unsigned kRows, class Words>
ETCH_INLINE void add_two(Ints (&sums)[kRows][1], const Integers (&words)[kRows], Words words_of) noexcept {
    Integers pair[kRows];
    ETCH_UNROLL
    for (unsigned r = 0; r < kRows; ++r)
        pair[r] = repeat_pair<kPair>(words[r]);
    ETCH_UNROLL
    for (unsigned q = 0; q < 4; ++q) {
        const Integers w = words_of(q);
        ETCH_UNROLL
        for (unsigned r = 0; r < kRows; ++r)
            accumulate(sums[r][0].quarters[q], add_pairs_of_products(pair[r], w));
    }
}

// The same of 4 k, the pairs kPair and kPair + 1; quarter_of(q) is the Widened of columns 4 q to 4 q + 3. One pair
// behind the other: of both at once GCC 14 has no register left for a sum.
template <unsigned kPair, unsigned kRows, class Quarter>
ETCH_INLINE void add_four(Ints (&sums)[kRows][1], const Integers (&words)[kRows], Quarter quarter_of) noexcept {
    add_two<kPair>(sums, words, [&](unsigned q) { return quarter_of(q).even; });
    add_two<kPair + 1>(sums, words, [&](unsigned q) { return quarter_of(q).odd; });
}

struct TileS8 {
    static constexpr unsigned kMaxRows = 2;

    template <unsigned kRows>
    static ETCH_NOINLINE void run(const MatmulS8& m, const Columns<1>& columns, const std::int8_t* weights,
                                  std::uint32_t row) noexcept {
        const std::size_t a_stride = m.a.stride_bytes;
        const std::uint8_t* a = m.a.data + row * a_stride;
        Ints sums[kRows][1] = {};
        for (std::uint32_t i = 0; i < m.k; i += 4) {
            Integers fours[kRows];
            load_rows<false>(fours, a, a_stride);
            add_four<0>(sums, fours, [&](unsigned q) { return widen(weights + q * 16); });
            weights += 64;
            a += 8;
        }
        finish_tile_s8(m, row, columns, sums);
    }
};

constexpr std::uint32_t kFewRows = 4;     // one more, and sharing takes less time, measured on Zen 4
constexpr std::uint32_t kChunk = 24;      // k that are widened at a time
constexpr std::uint32_t kBlockRows = 16;  // that share them

// kept[row][column] += the products of kRows rows from `a` on and `count` k; a row's first chunk begins with sums of 0.
template <unsigned kRows>
ETCH_INLINE void add_chunk(std::int32_t* kept, bool begins, const std::uint8_t* a, std::size_t a_stride,
                           const Widened* weights, std::uint32_t count) noexcept {
    Ints sums[kRows][1];
    ETCH_UNROLL
    for (unsigned r = 0; r < kRows; ++r)
        sums[r][0] = begins ? Ints{} : load_ints(kept + r * 16);
    const auto quarters_at = [weights](std::uint32_t k) {
        return [weights, k](unsigned q) -> const Widened& { return weights[k + q]; };
    };
    Integers words[kRows];
    std::uint32_t k = 0;
    for (; k + 4 < count; k += 8) {
        load_rows<true>(words, a + k * kEncodedBytes, a_stride);
        add_four<0>(sums, words, quarters_at(k));
        add_four<2>(sums, words, quarters_at(k + 4));
    }
    if (k < count) {
        load_rows<false>(words, a + k * kEncodedBytes, a_stride);
        add_four<0>(sums, words, quarters_at(k));
    }
    ETCH_UNROLL
    for (unsigned r = 0; r < kRows; ++r)
        store_ints(kept + r * 16, sums[r][0]);
}

// kept[row][column] = the sums of a panel times `rows` rows, at most kBlockRows, from `a` on. Out of line: what comes
// behind may have the place of the widened weights.
ETCH_NOINLINE void multiply_block(const std::uint8_t* a, std::size_t a_stride, std::uint32_t rows,
                                  const std::int8_t* weights, std::uint32_t k, std::int32_t* kept) noexcept {
    bool begins = true;
    do {
        const std::uint32_t count = k < kChunk ? k : kChunk;
        Widened widened[kChunk];  // [4 k][quarter]
        for (std::uint32_t i = 0; i < count; i += 4) {
            ETCH_UNROLL
            for (unsigned q = 0; q < 4; ++q)
                widened[i + q] = widen(weights + q * 16);
            weights += 64;
        }
        const std::uint8_t* row = a;
        std::int32_t* sums = kept;
        std::int32_t* const end = kept + rows * 16;
        for (; sums + 16 < end; sums += 32) {
            add_chunk<2>(sums, begins, row, a_stride, widened, count);
            row += 2 * a_stride;
        }
        if (sums < end) add_chunk<1>(sums, begins, row, a_stride, widened, count);
        a += std::size_t{2} * count;
        k -= count;
        begins = false;
    } while (k != 0);
}

// The output of `rows` rows from `first` on, at most kBlockRows, and a panel, whose weights these are.
ETCH_NOINLINE void finish_block(const MatmulS8& m, std::uint32_t first, std::uint32_t rows, std::uint32_t panel,
                                const std::int8_t* weights) noexcept {
    alignas(16) std::int32_t kept[kBlockRows * 16];
    multiply_block(m.a.data + first * m.a.stride_bytes, m.a.stride_bytes, rows, weights, m.k, kept);
    finish_panel(m, first, rows, panel, kept);
}

// The output of all rows, at most kFewRows, and a panel. Out of line: blocks of rows do not need the stack of it.
ETCH_NOINLINE void finish_few(const MatmulS8& m, std::uint32_t panel, const std::int8_t* weights) noexcept {
    for_each_tile<TileS8>(m, Columns<1>(panel, m.n, m.column_scales, m.bias), weights);
}

void matmul_s8(const MatmulS8& m, std::uint32_t first_panel, std::uint32_t last_panel) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountMatmulS8);
    const std::size_t panel_bytes = packed_s8_bytes(Packing::panel, kPanelWidth, m.allocated_k);
    for (std::uint32_t panel = first_panel; panel < last_panel; ++panel) {
        const std::int8_t* const weights = m.weights + panel * panel_bytes;
        if (m.rows <= kFewRows) {
            finish_few(m, panel, weights);
            continue;
        }
        for (std::uint32_t row = 0; row < m.rows; row += kBlockRows)
            finish_block(m, row, m.rows - row < kBlockRows ? m.rows - row : kBlockRows, panel, weights);
    }
}
