// SPDX-License-Identifier: Apache-2.0
// s8 x s8 -> s32 -> f32 by tdpbssd, blocks of 32 rows x 2 panels, the whole K in tile registers. Included inside the
// namespace of amx_int8.
//
// a       [rows][k] s8, zeros up to a multiple of kEncodedPadding values; row stride in bytes, any alignment.
// weights [n][allocated_k] s8 in Packing::panel; any alignment. 64 k of a panel, [16][16][4], are one tile register.
// out     [rows][n] f32, row stride out_stride floats; columns from n on are not touched. residual may be out.
// Any rows, any n, any k up to 65,536.
//
// A tile of sums is 16 rows x 16 columns; a multiplication adds the products of up to 64 k to one in 16 cycles and has
// its result after 52, so that four must be under way: 2 x 2 tiles, for which 4 loads of 8 cycles are enough, or 1 x 4
// for the last rows of an odd number of tiles.
//
// Rows that do not fill the last tile: it begins earlier, and what is computed twice is stored once. Fewer than 16 rows
// have tiles of their number. k that are not a multiple of 64 are taken in steps of the same number, as tiles cannot
// change their shapes: up to 12 k of the zeros behind a row may belong to the last step, times whatever follows in the
// weights; where that would be behind the whole table, the step's weights are copied.

constexpr std::uint8_t kEncodedBytes = 1;
constexpr std::uint32_t kTileRows = 16;
constexpr std::uint32_t kGroupBytes = 64;  // 4 k of a panel
constexpr std::uint32_t kMostGroups = 16;  // of a tile

// Encodes rne(x), |x| <= 127.
ETCH_INLINE void encode_16(Floats x, std::uint8_t* encoded) noexcept {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(encoded), round_to_bytes(x));
}

// body(Constant<0>), ... body(Constant<kCount - 1>): numbers of registers are part of an instruction.
template <unsigned kValue>
struct Constant {
    static constexpr unsigned value = kValue;
};
template <unsigned kCount, class Body>
ETCH_INLINE void for_constants(Body body) noexcept {
    if constexpr (kCount > 0) {
        for_constants<kCount - 1>(body);
        body(Constant<kCount - 1>{});
    }
}

// A product, cut into tiles.
struct Product {
    explicit Product(const MatmulS8& matmul) noexcept
        : m(matmul),
          panel_bytes(std::size_t{(m.allocated_k + 3) / 4} * kGroupBytes),
          groups((m.k + 3) / 4),
          steps((groups + kMostGroups - 1) / kMostGroups),
          tile_rows(m.rows < kTileRows ? m.rows : kTileRows),
          tiles((m.rows + kTileRows - 1) / kTileRows) {
        while (step_groups() * steps > round_up(groups, kEncodedPadding / 4))
            ++steps;
    }

    std::uint32_t step_groups() const noexcept { return (groups + steps - 1) / steps; }
    // The first row that the tile of rows [kTileRows * tile, ...) computes.
    std::uint32_t first_row(std::uint32_t tile) const noexcept {
        const std::uint32_t row = tile * kTileRows;
        return row + tile_rows <= m.rows ? row : m.rows - tile_rows;
    }

    const MatmulS8& m;
    const std::size_t panel_bytes;
    const std::uint32_t groups;  // of 4 k
    std::uint32_t steps;         // that they are multiplied in
    const std::uint32_t tile_rows;
    const std::uint32_t tiles;  // of rows
};

// Weights of a panel's last step: where they lie or, where they would end behind the table, a copy with zeros behind
// it.
ETCH_INLINE const std::int8_t* last_step(const Product& product, std::uint32_t panel, const std::int8_t* weights,
                                         std::int8_t (&copy)[1024]) noexcept {
    const bool ends_the_table = panel == (product.m.n - 1) / 16;
    if (!ends_the_table || product.step_groups() * product.steps == product.groups) return weights;
    const std::uint32_t first = product.step_groups() * (product.steps - 1);
    for (std::uint32_t g = 0; g < product.step_groups(); ++g) {
        const bool exists = first + g < product.groups;
        store_ints(copy + g * kGroupBytes, exists ? load_ints(weights + g * kGroupBytes) : all_ints(0));
    }
    return copy;
}

// The rows of a tile that no earlier one has stored. sums[kTileRows][16].
ETCH_INLINE void finish(const Product& product, std::uint32_t tile, std::uint32_t panel, std::int32_t* sums) noexcept {
    const std::uint32_t row = tile * kTileRows;
    const std::uint32_t left = product.m.rows - row;
    finish_panel(product.m, row, left < kTileRows ? left : kTileRows, panel,
                 sums + (row - product.first_row(tile)) * 16);
}

// kRowTiles tiles of rows from `tile` on times kPanels panels. Sums are in the registers 0 to 3, rows in 4 and 5 or 4,
// columns in the others.
template <unsigned kRowTiles, unsigned kPanels>
ETCH_NOINLINE void multiply_block(const Product& product, std::uint32_t tile, std::uint32_t panel) noexcept {
    static_assert(kRowTiles * kPanels <= 4, "four registers hold sums");
    constexpr unsigned kFirstColumns = 4 + kRowTiles;
    constexpr unsigned kColumnTiles = 8 - kFirstColumns;
    const MatmulS8& m = product.m;
    const std::uint32_t step_groups = product.step_groups();
    alignas(64) union {
        std::int32_t sums[kTileRows * 16];
        std::int8_t weights[1024];
    } scratch;
    const std::uint8_t* rows[kRowTiles];
    for (unsigned r = 0; r < kRowTiles; ++r)
        rows[r] = m.a.data + product.first_row(tile + r) * m.a.stride_bytes;
    const std::int8_t* weights = m.weights + panel * product.panel_bytes;
    for_constants<kRowTiles * kPanels>([](auto sums) ETCH_INLINE_BODY { zero_tile<decltype(sums)::value>(); });
    // `columns_of` has the weights of a step in the panel that a constant says.
    const auto add_step = [&](auto columns_of) ETCH_INLINE_BODY {
        for_constants<kRowTiles>([&](auto r) ETCH_INLINE_BODY {
            constexpr unsigned kRow = decltype(r)::value;
            load_tile<4 + kRow>(rows[kRow], m.a.stride_bytes);
            rows[kRow] += 4 * step_groups;
        });
        for_constants<kPanels>([&](auto p) ETCH_INLINE_BODY {
            constexpr unsigned kPanel = decltype(p)::value;
            constexpr unsigned kColumns = kFirstColumns + kPanel % kColumnTiles;
            load_tile<kColumns>(columns_of(kPanel), kGroupBytes);
            for_constants<kRowTiles>([&](auto r) ETCH_INLINE_BODY {
                multiply_tiles<decltype(r)::value * kPanels + kPanel, 4 + decltype(r)::value, kColumns>();
            });
        });
        weights += step_groups * kGroupBytes;
    };
    for (std::uint32_t step = 1; step < product.steps; ++step)
        add_step([&](unsigned p) ETCH_INLINE_BODY { return weights + p * product.panel_bytes; });
    add_step([&](unsigned p) ETCH_INLINE_BODY {
        return last_step(product, panel + p, weights + p * product.panel_bytes, scratch.weights);
    });
    for_constants<kRowTiles * kPanels>([&](auto sums) ETCH_INLINE_BODY {
        constexpr unsigned kTile = decltype(sums)::value;
        store_tile_to<kTile>(scratch.sums, 64);
        finish(product, tile + kTile / kPanels, panel + kTile % kPanels, scratch.sums);
    });
}

// Tiles of rows [first_tile, last_tile), kRowTiles at a time, times a group of panels, and their activation.
template <unsigned kRowTiles, unsigned kPanels>
ETCH_INLINE void multiply_group(const Product& product, std::uint32_t first_tile, std::uint32_t last_tile,
                                std::uint32_t panel) noexcept {
    const MatmulS8& m = product.m;
    const std::uint32_t columns = m.n - panel * 16 < kPanels * 16 ? m.n - panel * 16 : kPanels * 16;
    for (std::uint32_t tile = first_tile; tile < last_tile; tile += kRowTiles) {
        multiply_block<kRowTiles, kPanels>(product, tile, panel);
        const std::uint32_t row = tile * kTileRows;
        const std::uint32_t rows = m.rows - row < kRowTiles * kTileRows ? m.rows - row : kRowTiles * kTileRows;
        activate_block(m, row, rows, panel * 16, columns);
    }
}

// Panels from `panel` on in groups of kPanels, then single ones. Each goes through the rows while it is in the cache.
template <unsigned kRowTiles, unsigned kPanels>
ETCH_INLINE void multiply_panels(const Product& product, std::uint32_t first_tile, std::uint32_t last_tile,
                                 std::uint32_t panel, std::uint32_t last_panel) noexcept {
    for (; panel + kPanels <= last_panel; panel += kPanels)
        multiply_group<kRowTiles, kPanels>(product, first_tile, last_tile, panel);
    if constexpr (kPanels > 1) multiply_panels<kRowTiles, 1>(product, first_tile, last_tile, panel, last_panel);
}

void multiply(const MatmulS8& m, std::uint32_t first_panel, std::uint32_t last_panel) noexcept {
    const Product product(m);
    TileShapes shapes;
    for (unsigned tile = 0; tile < 8; ++tile) {
        const bool columns = tile >= 6;
        shapes.rows[tile] = static_cast<std::uint8_t>(columns ? product.step_groups() : product.tile_rows);
        shapes.row_bytes[tile] = static_cast<std::uint16_t>(tile < 4 || columns ? 64 : 4 * product.step_groups());
    }
    const std::uint32_t pairs = product.tiles / 2 * 2;
    if (pairs != 0) {
        configure_tiles(shapes);
        multiply_panels<2, 2>(product, 0, pairs, first_panel, last_panel);
    }
    if (pairs != product.tiles) {
        shapes.rows[5] = shapes.rows[6];
        shapes.row_bytes[5] = 64;
        configure_tiles(shapes);
        multiply_panels<1, 4>(product, pairs, product.tiles, first_panel, last_panel);
    }
    release_tiles();
}

void matmul_s8(const MatmulS8& m, std::uint32_t first_panel, std::uint32_t last_panel) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountMatmulS8);
    if (one_by_one(m)) {
        return multiply_one_by_one(m, first_panel, last_panel, [](MatmulS8& one, std::uint32_t panel) ETCH_INLINE_BODY {
            one.weights += packed_s8_bytes(Packing::panel, panel * 16, one.allocated_k);
            multiply(one, 0, 1);
        });
    }
    multiply(m, first_panel, last_panel);
}
