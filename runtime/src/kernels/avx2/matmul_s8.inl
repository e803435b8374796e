// SPDX-License-Identifier: Apache-2.0
// The order in which avx2 takes rows and panels. Included inside its namespace, behind tile_s8.inl.

// Rows that stay in L2 while the weights pass by; whole tiles.
constexpr std::uint32_t kChunkRows = 63;

// Of a panel, that stay in a first cache of 32 KB, beside the rows that pass by.
constexpr std::size_t kNearBytes = 16 * 1024;

// All rows of m, a tile at a time, by one panel. `steps` are the first of the first tile, again behind it.
//
// What a tile multiplies first is known from the masks of its rows, which it would wait for behind the last branches of
// the tile before; so they are read before that one: about 1 % of a product, on Zen 3.
template <class Weights, class Next>
ETCH_INLINE void multiply_panel_s8(const MatmulS8& m, const std::int32_t* first_sums, Steps& steps,
                                   const Columns<1>& columns, const std::int8_t* weights, const Next& next) noexcept {
    using Tile = TileS8<Weights>;
    const std::uint32_t whole = m.rows / kTileRows;
    const std::uint32_t left = m.rows % kTileRows;
    for (std::uint32_t tile = 0; tile < whole; ++tile) {
        const std::uint32_t row = (tile + 1) * kTileRows;
        const Steps following = first_steps<Weights>(m, row < m.rows ? row : 0);
        Tile::template run<kTileRows>(m, first_sums, steps, columns, weights, next, tile);
        steps = following;
    }
    if (left == 0) return;
    const Steps following = first_steps<Weights>(m, 0);
    if (left == 2) Tile::template run<2>(m, first_sums, steps, columns, weights, next, whole);
    if (left == 1) Tile::template run<1>(m, first_sums, steps, columns, weights, next, whole);
    steps = following;
}

// m has at most kChunkRows rows.
template <class Weights>
ETCH_NOINLINE void multiply_chunk_s8(const MatmulS8& m, std::uint32_t first_panel, std::uint32_t last_panel) noexcept {
    std::int32_t first_sums[kChunkRows];
    find_first_sums<Weights>(m, first_sums);
    Steps steps = first_steps<Weights>(m, 0);
    const std::uint32_t tiles = (m.rows + kTileRows - 1) / kTileRows;
    const std::size_t panel_bytes = packed_s8_bytes(Packing::panel, kPanelWidth, m.allocated_k);
    for (std::uint32_t panel = first_panel; panel < last_panel; ++panel) {
        const std::int8_t* weights = m.weights + panel * panel_bytes;
        const std::int8_t* next = panel + 1 < last_panel ? weights + panel_bytes : weights;
        const Columns<1> columns(panel, m.n, m.column_scales, m.bias);
        if (m.rows == 1) {
            TileS8<Weights>::template run<1>(m, first_sums, steps, columns, weights, NoFetch{}, 0);
        } else if (!Weights::kMostlyPaired && panel_bytes > kNearBytes) {
            multiply_panel_s8<Weights>(m, first_sums, steps, columns, weights, NextSteps(weights, next, tiles));
        } else {
            multiply_panel_s8<Weights>(m, first_sums, steps, columns, weights, NextPanel(next, tiles));
        }
    }
}

template <class Weights>
ETCH_INLINE void multiply_s8(const MatmulS8& m, std::uint32_t first_panel, std::uint32_t last_panel) noexcept {
    for (std::uint32_t row = 0; row < m.rows; row += kChunkRows)
        multiply_chunk_s8<Weights>(rows_of(m, row, kChunkRows), first_panel, last_panel);
}

void matmul_s8(const MatmulS8& m, std::uint32_t first_panel, std::uint32_t last_panel) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountMatmulS8);
    multiply_s8<Weights8>(m, first_panel, last_panel);
}

void matmul_s7(const MatmulS8& m, std::uint32_t first_panel, std::uint32_t last_panel) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountMatmulS7);
    multiply_s8<Weights7>(m, first_panel, last_panel);
}
