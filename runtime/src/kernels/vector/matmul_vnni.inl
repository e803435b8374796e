// SPDX-License-Identifier: Apache-2.0
// s8 x s8 -> s32 -> f32 by vpdpbusd, tiles of kMostRows rows x 16 kMostPanels columns, the whole K in registers.
// Included inside the namespaces of avx_vnni and avx512_vnni, behind matmul_vnni_tile.inl.
//
// a       [rows][k], encoded as u8 = q + 128, for ByPlainRows as q, and encoded zeros up to a multiple of
//         kEncodedPadding values; row stride in bytes, any alignment.
// weights [n][allocated_k] s8 in Packing::panel, made by codegen/pack or by the Pack ops for keys and values; any
//         alignment, a multiple of 64 bytes is a tenth faster.
// out     [rows][n] f32, row stride out_stride floats; columns from n on are not touched. residual may be out.
// Any rows, in tiles of nearly the same number; any n (groups of kMostPanels panels and smaller ones; the last panel
// may be cut); any k up to 65,536.

// The tile of `count` rows, one of kLeast to kMost.
template <class Tile, unsigned kLeast, unsigned kMost, class... Arguments>
ETCH_INLINE void tile_of(std::uint32_t count, const Arguments&... arguments) noexcept {
    if constexpr (kMost > kLeast) {
        if (count != kMost) return tile_of<Tile, kLeast, kMost - 1>(count, arguments...);
    }
    Tile::template run<kMost>(arguments...);
}

// What is left of a tile's activation.
ETCH_INLINE void activate_rows(const MatmulS8& m, std::uint32_t row, std::uint32_t rows, std::uint32_t panel,
                               std::uint32_t panels) noexcept {
    const std::uint32_t columns = m.n - panel * 16;
    activate_block(m, row, rows, panel * 16, columns < panels * 16 ? columns : panels * 16);
}

constexpr unsigned kMostByRows = kMostRows - 1;  // one row more, and GCC 12 runs out of registers

// A group of panels times more than 2 kMostByRows rows: the tile that finds where columns begin, then tiles of nearly
// the same number of rows.
template <unsigned kPanels>
ETCH_NOINLINE void multiply_by_columns(const MatmulS8& m, std::uint32_t panel, bool copied) noexcept {
    constexpr unsigned kFirstRows = kMostRows - 1;
    constexpr unsigned kLeastRows = (kMostRows + 1) / 2;
    const std::size_t panel_bytes = packed_s8_bytes(Packing::panel, kPanelWidth, m.allocated_k);
    alignas(64) std::int32_t sums[kPanels * 16];
    TileS8<kPanels, FindsColumns>::template run<kFirstRows>(m, FindsColumns(sums, copied), panel, 0,
                                                            kPanels * panel_bytes);
    activate_rows(m, 0, kFirstRows, panel, kPanels);
    std::uint32_t tiles = (m.rows - kFirstRows + kMostRows - 1) / kMostRows;
    for (std::uint32_t row = kFirstRows; row < m.rows; --tiles) {
        const std::uint32_t count = (m.rows - row) / tiles;
        // Each tile of rows fetches one panel of the next group; in turn, so that a product of many rows has them all.
        const std::size_t ahead = (kPanels + tiles % kPanels) * panel_bytes;
        tile_of<TileS8<kPanels, ByColumns>, kLeastRows, kMostRows>(count, m, ByColumns(sums, copied), panel, row,
                                                                   ahead);
        activate_rows(m, row, count, panel, kPanels);
        row += count;
    }
}

constexpr std::uint32_t kFewRows = 2 * kMostByRows;

// A group of panels times m's rows in tiles of nearly the same number, kLeast to kMost. `Offset` is ByRows or
// ByPlainRows.
template <class Offset, unsigned kPanels, unsigned kLeast, unsigned kMost>
ETCH_NOINLINE void multiply_by_rows(const MatmulS8& m, std::uint32_t panel, const std::int32_t* row_sums,
                                    bool copied) noexcept {
    const std::size_t panel_bytes = packed_s8_bytes(Packing::panel, kPanelWidth, m.allocated_k);
    std::uint32_t tiles = (m.rows + kMost - 1) / kMost;
    for (std::uint32_t row = 0; row < m.rows; --tiles) {
        const std::uint32_t count = (m.rows - row) / tiles;
        const std::size_t ahead = m.rows > kFewRows ? (kPanels + tiles % kPanels) * panel_bytes : 0;
        tile_of<TileS8<kPanels, Offset>, kLeast, kMost>(count, m, Offset(row_sums + row, copied), panel, row, ahead);
        activate_rows(m, row, count, panel, kPanels);
        row += count;
    }
}

// Many rows: panels from `panel` on in groups of kPanels, as far as these fit before `last`, then in smaller ones: of
// four that are left, two and two. multiply(a group's size as an integral_constant, its first panel).
template <unsigned kPanels, class Multiply>
ETCH_INLINE void for_each_group(std::uint32_t panel, std::uint32_t last, Multiply multiply) noexcept {
    for (; panel + kPanels <= last && (kPanels < 3 || panel + kPanels + 1 != last); panel += kPanels)
        multiply(std::integral_constant<unsigned, kPanels>{}, panel);
    if constexpr (kPanels > 1) for_each_group<kPanels - 1>(panel, last, multiply);
}

// Up to kFewRows rows: single panels behind the groups, in small tiles, for there are few of them.
template <class Offset, unsigned kPanels, unsigned kLeast, unsigned kMost>
ETCH_INLINE void multiply_few(const MatmulS8& m, const std::int32_t* row_sums, std::uint32_t panel, std::uint32_t last,
                              bool copied) noexcept {
    for (; panel + kPanels <= last; panel += kPanels)
        multiply_by_rows<Offset, kPanels, kLeast, kMost>(m, panel, row_sums, copied);
    if constexpr (kPanels > 1) multiply_few<Offset, 1, 2, kMostRows / 2>(m, row_sums, panel, last, copied);
}

// One row times a panel is bound by how fast the weights come. They lie one behind the other through all panels: read
// so, they come from the third cache at 84 to 92 % of what reading alone reaches, several panels at a time at 75 to 92
// %, fetched ahead by instructions at 73 %, measured on Zen 4. The sums take turns, so that none is waited for.
constexpr unsigned kSumsOfARow = kMostPanels > 1 ? 8 : 4;

template <class Offset>
ETCH_NOINLINE void multiply_row(const MatmulS8& m, std::uint32_t panel, std::int32_t row_sum) noexcept {
    const std::int8_t* weights = m.weights + panel * packed_s8_bytes(Packing::panel, kPanelWidth, m.allocated_k);
    const std::uint8_t* a = m.a.data;
    Ints top_bits = all_ints(kEveryTopBit);
    keep_in_registers(top_bits);
    Ints sums[kSumsOfARow];
    ETCH_UNROLL
    for (unsigned i = 0; i < kSumsOfARow; ++i)
        sums[i] = all_ints(i == 0 ? row_sum : 0);
    const auto add_four = [&](const std::uint8_t* four, Ints& sum) ETCH_INLINE_BODY {
        sum = Offset::add_products(sum, broadcast_4_bytes(four), Offset::w_operand(weights, top_bits));
        weights += 64;
    };
    for (std::uint32_t left = m.k; left != 0;) {
        alignas(64) std::uint8_t chunk[kChunk];
        const std::uint32_t now = left > kChunk ? kChunk : left;
        copy_chunk<1, Offset::kFlipsRows>(a, 0, now, top_bits, chunk);
        a += now;
        left -= now;
        std::uint32_t k = 0;
        for (; k + 4 * kSumsOfARow <= now; k += 4 * kSumsOfARow) {
            ETCH_UNROLL
            for (unsigned i = 0; i < kSumsOfARow; ++i)
                add_four(chunk + k + 4 * i, sums[i]);
        }
        for (; k < now; k += 4)
            add_four(chunk + k, sums[0]);
    }
    ETCH_UNROLL
    for (unsigned i = 1; i < kSumsOfARow; ++i)
        sums[0] = plus(sums[0], sums[i]);
    alignas(64) std::int32_t of_panel[16];
    store_ints(of_panel, sums[0]);
    finish_panel(m, 0, 1, panel, of_panel);
}

// Two to kMostRows / 2 rows are multiplied by more panels at a time: there must be enough sums to wait for none.
constexpr std::uint32_t kManyPanels = kMostRows / 2;

template <class Offset>
ETCH_INLINE void find_row_sums(const MatmulS8& m, std::int32_t* row_sums) noexcept {
    for (std::uint32_t row = 0; row < m.rows; ++row)
        row_sums[row] = first_sum_of_row(m.a.data + row * m.a.stride_bytes, m.k, Offset::kFlip);
}

// Up to kManyPanels rows.
template <class Offset>
ETCH_INLINE void multiply_fewest_rows(const MatmulS8& m, const std::int32_t* row_sums, std::uint32_t first_panel,
                                      std::uint32_t last_panel, bool copied) noexcept {
    if (m.rows == 1) {
        for (std::uint32_t panel = first_panel; panel < last_panel; ++panel)
            multiply_row<Offset>(m, panel, row_sums[0]);
        activate_rows(m, 0, 1, first_panel, last_panel - first_panel);
    } else {
        multiply_few<Offset, kFewRowsPanels, 2, kManyPanels>(m, row_sums, first_panel, last_panel, copied);
    }
}

ETCH_NOINLINE void multiply_few_rows(const MatmulS8& m, std::uint32_t first_panel, std::uint32_t last_panel) noexcept {
    std::int32_t row_sums[kFewRows];
    find_row_sums<ByRows>(m, row_sums);
    if (m.rows <= kManyPanels) {
        multiply_fewest_rows<ByRows>(m, row_sums, first_panel, last_panel, true);
    } else {
        multiply_few<ByRows, kMostPanels, kMostByRows / 2, kMostByRows>(m, row_sums, first_panel, last_panel, true);
    }
}

// `copied`: many rows are copied, too.
ETCH_INLINE void multiply(const MatmulS8& m, std::uint32_t first_panel, std::uint32_t last_panel,
                          bool copied) noexcept {
    if (one_by_one(m)) {
        return multiply_one_by_one(m, first_panel, last_panel, [](MatmulS8& one, std::uint32_t panel) ETCH_INLINE_BODY {
            one.weights += packed_s8_bytes(Packing::panel, panel * 16, one.allocated_k);
            multiply_few_rows(one, 0, 1);
        });
    }
    if (m.rows <= kFewRows) return multiply_few_rows(m, first_panel, last_panel);
    for_each_group<kMostPanels>(first_panel, last_panel, [&](auto size, std::uint32_t panel) ETCH_INLINE_BODY {
        multiply_by_columns<decltype(size)::value>(m, panel, copied);
    });
}

void matmul_s8(const MatmulS8& m, std::uint32_t first_panel, std::uint32_t last_panel) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountMatmulS8);
    multiply(m, first_panel, last_panel, m.k >= kCopiedFrom);
}
