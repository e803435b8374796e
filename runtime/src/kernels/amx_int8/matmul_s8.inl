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
constexpr std::uint32_t kGroupPanels = 4;  // that go through all rows together

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
          panel_bytes(packed_s8_bytes(Packing::panel, kPanelWidth, m.allocated_k)),
          groups((m.k + 3) / 4),
          steps((groups + kMostGroups - 1) / kMostGroups),
          step_groups((groups + steps - 1) / steps),
          tile_rows(m.rows < kTileRows ? m.rows : kTileRows),
          tiles((m.rows + kTileRows - 1) / kTileRows) {
        while (step_groups * steps > round_up(groups, kEncodedPadding / 4)) {
            ++steps;
            step_groups = (groups + steps - 1) / steps;
        }
        activated_rows = steps < 2 ? 2 * kTileRows : (2 * kTileRows + steps - 2) / (steps - 1);
    }

    // The first row that the tile of rows [kTileRows * tile, ...) computes.
    std::uint32_t first_row(std::uint32_t tile) const noexcept {
        const std::uint32_t row = tile * kTileRows;
        return row + tile_rows <= m.rows ? row : m.rows - tile_rows;
    }

    const MatmulS8& m;
    const std::size_t panel_bytes;
    const std::uint32_t groups;  // of 4 k
    std::uint32_t steps;         // that they are multiplied in
    std::uint32_t step_groups;   // at each
    const std::uint32_t tile_rows;
    const std::uint32_t tiles;     // of rows
    std::uint32_t activated_rows;  // at each step, so that all of a block are when the next one is multiplied
};

// Weights of a panel's last step: where they lie or, where they would end behind the table, a copy with zeros behind
// it.
ETCH_INLINE const std::int8_t* last_step(const Product& product, std::uint32_t panel, const std::int8_t* weights,
                                         std::int8_t (&copy)[1024]) noexcept {
    const bool ends_the_table = panel == (product.m.n - 1) / 16;
    if (!ends_the_table || product.step_groups * product.steps == product.groups) return weights;
    const std::uint32_t first = product.step_groups * (product.steps - 1);
    for (std::uint32_t g = 0; g < product.step_groups; ++g) {
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

// Outputs of a block that wait for their activation. They get it while the next block is multiplied, as the unit that
// multiplies tiles is none that activates.
struct Waiting {
    // Activates up to `count` rows more.
    ETCH_INLINE void some(const MatmulS8& m, std::uint32_t count) noexcept {
        if (row == end_row) return;
        const std::uint32_t rows = end_row - row < count ? end_row - row : count;
        activate_block(m, row, rows, column, columns);
        row += rows;
    }

    std::uint32_t row = 0;  // the next one
    std::uint32_t end_row = 0;
    std::uint32_t column = 0;
    std::uint32_t columns = 0;
};

// Weights of the next panels, which are fetched into the second cache meanwhile: every fourth line, behind which the
// processor's own prefetcher brings the others. Each line that is asked for here holds one of the few buffers that
// tiles are loaded through as long as it is on its way.
struct Ahead {
    ETCH_INLINE void fetch() noexcept {
        for (std::uint32_t line = 0; line < lines; line += 4)
            _mm_prefetch(reinterpret_cast<const char*>(weights + line * 64), _MM_HINT_T1);
        weights += lines * 64;
    }

    const std::int8_t* weights;
    std::uint32_t lines;  // at each step
};

// What is done beside a step. Out of line: the loop over steps has no other within.
ETCH_NOINLINE void do_meanwhile(const Product& product, Waiting& before, Ahead& ahead) noexcept {
    ahead.fetch();
    before.some(product.m, product.activated_rows);
}

// A block is kRowTiles tiles of rows from `tile` on times kPanels panels. Its sums are in the registers 0 to 3 from its
// first step to finish_block(), its rows in 4 and 5 or 4, its columns in the others.

// Adds the products of step `step`; columns_of(p) has its weights in the panel p of the block, a constant.
template <unsigned kRowTiles, unsigned kPanels, class ColumnsOf>
ETCH_INLINE void add_step(const Product& product, std::uint32_t tile, std::uint32_t step,
                          ColumnsOf columns_of) noexcept {
    static_assert(kRowTiles * kPanels <= 4, "four registers hold sums");
    constexpr unsigned kFirstColumns = 4 + kRowTiles;
    constexpr unsigned kColumnTiles = 8 - kFirstColumns;
    const QuantizedRows& a = product.m.a;
    const std::uint8_t* const of_step = a.data + std::size_t{4} * step * product.step_groups;
    for_constants<kRowTiles>([&](auto r) ETCH_INLINE_BODY {
        constexpr unsigned kRow = decltype(r)::value;
        load_tile<4 + kRow>(of_step + product.first_row(tile + kRow) * a.stride_bytes, a.stride_bytes);
    });
    for_constants<kPanels>([&](auto p) ETCH_INLINE_BODY {
        constexpr unsigned kPanel = decltype(p)::value;
        constexpr unsigned kColumns = kFirstColumns + kPanel % kColumnTiles;
        load_tile<kColumns>(columns_of(kPanel), kGroupBytes);
        for_constants<kRowTiles>([&](auto r) ETCH_INLINE_BODY {
            multiply_tiles<decltype(r)::value * kPanels + kPanel, 4 + decltype(r)::value, kColumns>();
        });
    });
}

// All steps but the last one, and all that waits.
template <unsigned kRowTiles, unsigned kPanels>
ETCH_NOINLINE void begin_block(const Product& product, std::uint32_t tile, std::uint32_t panel, Waiting& before,
                               Ahead& ahead) noexcept {
    for_constants<kRowTiles * kPanels>([](auto sums) ETCH_INLINE_BODY { zero_tile<decltype(sums)::value>(); });
    const std::int8_t* weights = product.m.weights + panel * product.panel_bytes;
    for (std::uint32_t step = 0; step + 1 < product.steps; ++step) {
        add_step<kRowTiles, kPanels>(product, tile, step,
                                     [&](unsigned p) ETCH_INLINE_BODY { return weights + p * product.panel_bytes; });
        weights += product.step_groups * kGroupBytes;
        do_meanwhile(product, before, ahead);
    }
    before.some(product.m, 2 * kTileRows);
}

// The last step, and outputs out of sums.
template <unsigned kRowTiles, unsigned kPanels>
ETCH_NOINLINE void finish_block(const Product& product, std::uint32_t tile, std::uint32_t panel) noexcept {
    alignas(64) union {
        std::int32_t sums[kTileRows * 16];
        std::int8_t weights[1024];
    } scratch;
    const std::uint32_t step = product.steps - 1;
    const std::int8_t* const weights =
        product.m.weights + panel * product.panel_bytes + std::size_t{step} * product.step_groups * kGroupBytes;
    add_step<kRowTiles, kPanels>(product, tile, step, [&](unsigned p) ETCH_INLINE_BODY {
        return last_step(product, panel + p, weights + p * product.panel_bytes, scratch.weights);
    });
    for_constants<kRowTiles * kPanels>([&](auto sums) ETCH_INLINE_BODY {
        constexpr unsigned kTile = decltype(sums)::value;
        store_tile_to<kTile>(scratch.sums, 64);
        finish(product, tile + kTile / kPanels, panel + kTile % kPanels, scratch.sums);
    });
}

// Tiles of rows [first_tile, last_tile), kRowTiles at a time, times a group of panels. Others behind it are `fetched`.
template <unsigned kRowTiles, unsigned kPanels>
ETCH_INLINE void multiply_group(const Product& product, std::uint32_t first_tile, std::uint32_t last_tile,
                                std::uint32_t panel, Waiting& before, bool fetched) noexcept {
    const MatmulS8& m = product.m;
    const std::size_t lines = fetched ? kPanels * product.panel_bytes / 64 : 0;
    const std::size_t steps = (last_tile - first_tile) / kRowTiles * product.steps;
    Ahead ahead{m.weights + (panel + kPanels) * product.panel_bytes,
                static_cast<std::uint32_t>((lines + steps - 1) / steps)};
    for (std::uint32_t tile = first_tile; tile < last_tile; tile += kRowTiles) {
        begin_block<kRowTiles, kPanels>(product, tile, panel, before, ahead);
        finish_block<kRowTiles, kPanels>(product, tile, panel);
        if (m.activation == Activation::none) continue;
        before.row = tile * kTileRows;
        before.end_row = m.rows - before.row < kRowTiles * kTileRows ? m.rows : before.row + kRowTiles * kTileRows;
        before.column = panel * 16;
        before.columns = m.n - before.column < kPanels * 16 ? m.n - before.column : kPanels * 16;
    }
}

// The last of an odd number of tiles times up to kGroupPanels panels.
ETCH_INLINE void multiply_last(const Product& product, std::uint32_t panel, std::uint32_t end,
                               Waiting& before) noexcept {
    const std::uint32_t tile = product.tiles - 1;
    if (end - panel == kGroupPanels)
        return multiply_group<1, kGroupPanels>(product, tile, product.tiles, panel, before, false);
    for (; panel < end; ++panel)
        multiply_group<1, 1>(product, tile, product.tiles, panel, before, false);
}

// All pairs of tiles times up to kGroupPanels panels. Where outputs are activated, too, that gives the caches time
// enough, and fetching costs more than it brings.
ETCH_INLINE void multiply_pairs(const Product& product, std::uint32_t panel, std::uint32_t end, bool ends,
                                Waiting& before) noexcept {
    const std::uint32_t tiles = product.tiles / 2 * 2;
    const bool fetched = product.m.activation == Activation::none;
    for (; panel + 2 <= end; panel += 2)
        multiply_group<2, 2>(product, 0, tiles, panel, before, fetched && (panel + 4 <= end || !ends));
    if (panel < end) multiply_group<2, 1>(product, 0, tiles, panel, before, false);
}

// A group of panels goes through all rows while it is in the cache.
void multiply(const MatmulS8& m, std::uint32_t first_panel, std::uint32_t last_panel) noexcept {
    const Product product(m);
    TileShapes pairs;
    for (unsigned tile = 0; tile < 8; ++tile) {
        const bool columns = tile >= 6;
        pairs.rows[tile] = static_cast<std::uint8_t>(columns ? product.step_groups : product.tile_rows);
        pairs.row_bytes[tile] = static_cast<std::uint16_t>(tile < 4 || columns ? 64 : 4 * product.step_groups);
    }
    TileShapes last = pairs;
    last.rows[5] = last.rows[6];
    last.row_bytes[5] = last.row_bytes[6];
    const bool has_pairs = product.tiles > 1;
    const bool has_last = product.tiles % 2 != 0;
    // Where tiles are full all of them have one shape.
    const bool differ = has_last && has_pairs && product.step_groups != kMostGroups;
    configure_tiles(has_pairs ? pairs : last);
    Waiting before;
    for (std::uint32_t panel = first_panel; panel < last_panel; panel += kGroupPanels) {
        const std::uint32_t end = last_panel - panel < kGroupPanels ? last_panel : panel + kGroupPanels;
        if (has_pairs) {
            if (differ && panel != first_panel) configure_tiles(pairs);
            multiply_pairs(product, panel, end, end == last_panel, before);
            if (differ) configure_tiles(last);
        }
        if (has_last) multiply_last(product, panel, end, before);
    }
    before.some(m, 2 * kTileRows);
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
