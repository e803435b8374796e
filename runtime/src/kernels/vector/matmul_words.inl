// SPDX-License-Identifier: Apache-2.0
// s8 x s8 -> s32 -> f32 where an instruction adds the products of two pairs of int16 to an int32, tiles of 2 rows x 16
// columns, the whole K in registers. Included inside the namespaces of sse2 and wasm_simd, behind their words.inl.
//
// a       [rows][k], encoded as int16, each 4 values in the order 0, 2, 1, 3; zeros up to a multiple of kEncodedPadding
//         values; row stride in bytes, any alignment.
// weights [n][allocated_k] s8 in Packing::panel, made by codegen/pack.py or by the Pack ops; any alignment.
// out     [rows][n] f32, row stride out_stride floats; columns from n on are not touched. residual may be out.
// Any rows, any n (the last panel may be cut), any k.
//
// A register of weights is 4 columns x 4 k. As int16, its low bytes are k = 0 and 2 of each column and its high bytes k
// = 1 and 3: two shifts widen the one, one shift the other, and pmaddwd adds the products of a pair. 8 sums, 4
// registers of a and 2 of weights are 14 of the 16.
//
// Two rows at most widen the weights as they go, 12 shifts for every 16 multiplications and 16 additions. More rows
// share what was widened: kChunk k of a panel at a time into a buffer, which up to kBlockRows rows are multiplied by,
// two by two; between chunks their sums are in memory.

constexpr std::uint8_t kEncodedBytes = 2;

// Encodes rne(x), |x| <= 127.
ETCH_INLINE void encode_16(Floats x, std::uint8_t* encoded) noexcept {
    store(encoded, swap_middle(round_to_words(x.low)));
    store(encoded + 16, swap_middle(round_to_words(x.high)));
}

struct Ints {
    Integers quarters[4];
};

ETCH_INLINE Floats to_floats(const Ints& x) noexcept {
    return {{to_floats(x.quarters[0]), to_floats(x.quarters[1])}, {to_floats(x.quarters[2]), to_floats(x.quarters[3])}};
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

// sums += the products of kRows rows from `a` on and 4 k of a panel; quarter_of(q) is the Widened of its columns 4 q to
// 4 q + 3.
template <unsigned kRows, class Quarter>
ETCH_INLINE void add_four(Ints (&sums)[kRows][1], const std::uint8_t* a, std::size_t a_stride,
                          Quarter quarter_of) noexcept {
    Integers even[kRows];
    Integers odd[kRows];
    ETCH_UNROLL
    for (unsigned r = 0; r < kRows; ++r) {
        const Integers four = load_four_words(a + r * a_stride);
        even[r] = first_pair(four);
        odd[r] = second_pair(four);
    }
    ETCH_UNROLL
    for (unsigned q = 0; q < 4; ++q) {
        const Widened& w = quarter_of(q);
        ETCH_UNROLL
        for (unsigned r = 0; r < kRows; ++r) {
            accumulate(sums[r][0].quarters[q], add_pairs_of_products(even[r], w.even));
            accumulate(sums[r][0].quarters[q], add_pairs_of_products(odd[r], w.odd));
        }
    }
}

struct TileS8 {
    static constexpr unsigned kPanels = 1;
    static constexpr unsigned kMaxRows = 2;

    template <unsigned kRows>
    static ETCH_NOINLINE void run(const MatmulS8& m, const Columns<1>& columns, const std::int8_t* weights,
                                  std::uint32_t row) noexcept {
        const std::size_t a_stride = m.a.stride_bytes;
        const std::uint8_t* a = m.a.data + row * a_stride;
        Ints sums[kRows][1] = {};
        for (std::uint32_t i = 0; i < m.k; i += 4) {
            add_four(sums, a, a_stride, [&](unsigned q) { return widen(weights + q * 16); });
            weights += 64;
            a += 8;
        }
        finish_tile_s8(m, row, columns, sums);
    }
};

constexpr std::uint32_t kChunk = 20;      // k that are widened at a time
constexpr std::uint32_t kBlockRows = 16;  // that share them

// kept += the products of kRows rows from `a` on and `count` k.
template <unsigned kRows>
ETCH_INLINE void add_chunk(Ints* kept, const std::uint8_t* a, std::size_t a_stride, const Widened* weights,
                           std::uint32_t count) noexcept {
    Ints sums[kRows][1];
    ETCH_UNROLL
    for (unsigned r = 0; r < kRows; ++r)
        sums[r][0] = kept[r];
    for (const Widened* const end = weights + count; weights < end; weights += 4) {
        add_four(sums, a, a_stride, [&](unsigned q) -> const Widened& { return weights[q]; });
        a += 8;
    }
    ETCH_UNROLL
    for (unsigned r = 0; r < kRows; ++r)
        kept[r] = sums[r][0];
}

// kept[row] = the sums of a panel times `rows` rows, at most kBlockRows, from `a` on. Out of line: what comes behind
// may have the place of the widened weights.
ETCH_NOINLINE void multiply_block(const std::uint8_t* a, std::size_t a_stride, std::uint32_t rows,
                                  const std::int8_t* weights, std::uint32_t k, Ints* kept) noexcept {
    for (std::uint32_t row = 0; row < rows; ++row)
        kept[row] = {};
    while (k != 0) {
        const std::uint32_t count = k < kChunk ? k : kChunk;
        Widened widened[kChunk];  // [4 k][quarter]
        for (std::uint32_t i = 0; i < count; i += 4) {
            ETCH_UNROLL
            for (unsigned q = 0; q < 4; ++q)
                widened[i + q] = widen(weights + q * 16);
            weights += 64;
        }
        std::uint32_t row = 0;
        for (; row + 2 <= rows; row += 2)
            add_chunk<2>(kept + row, a + row * a_stride, a_stride, widened, count);
        if (row < rows) add_chunk<1>(kept + row, a + row * a_stride, a_stride, widened, count);
        a += std::size_t{2} * count;
        k -= count;
    }
}

// The output of `rows` rows from `first` on, at most kBlockRows.
ETCH_NOINLINE void finish_block(const MatmulS8& m, const Columns<1>& columns, const std::int8_t* weights,
                                std::uint32_t first, std::uint32_t rows) noexcept {
    Ints kept[kBlockRows];
    multiply_block(m.a.data + first * m.a.stride_bytes, m.a.stride_bytes, rows, weights, m.k, kept);
    for (std::uint32_t row = 0; row < rows; ++row) {
        const Ints sums[1][1] = {{kept[row]}};
        finish_tile_s8(m, first + row, columns, sums);
    }
}

void matmul_s8(const MatmulS8& m, std::uint32_t first_panel, std::uint32_t last_panel) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountMatmulS8);
    const std::size_t panel_bytes = std::size_t{(m.allocated_k + 3) / 4} * 64;
    for (std::uint32_t panel = first_panel; panel < last_panel; ++panel) {
        const Columns<1> columns(panel, m.n, m.column_scales, m.bias);
        const std::int8_t* const weights = m.weights + panel * panel_bytes;
        if (m.rows <= TileS8::kMaxRows) {
            for_each_tile<TileS8>(m, columns, weights);
            continue;
        }
        for (std::uint32_t row = 0; row < m.rows; row += kBlockRows)
            finish_block(m, columns, weights, row, m.rows - row < kBlockRows ? m.rows - row : kBlockRows);
    }
}
