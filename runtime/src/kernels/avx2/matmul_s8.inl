// SPDX-License-Identifier: Apache-2.0
// The order in which avx2 takes rows and panels. Included inside its namespace, behind tile_s8.inl.

// Rows that stay in L2 while the weights pass by; whole tiles.
constexpr std::uint32_t kChunkRows = 63;

// m has at most kChunkRows rows.
template <class Weights>
ETCH_NOINLINE void multiply_chunk_s8(const MatmulS8& m, std::uint32_t first_panel, std::uint32_t last_panel) noexcept {
    using Tile = TileS8<Weights>;
    std::int32_t first_sums[kChunkRows];
    Tile::find_first_sums(m, first_sums);
    const std::int32_t* const sums = first_sums;
    const std::uint32_t tiles = (m.rows + Tile::kMaxRows - 1) / Tile::kMaxRows;
    const std::size_t panel_bytes = std::size_t{(m.allocated_k + 3) / 4} * 64;
    for (std::uint32_t panel = first_panel; panel < last_panel; ++panel) {
        const std::int8_t* weights = m.weights + panel * panel_bytes;
        const Columns<1> columns(panel, m.n, m.column_scales, m.bias);
        if (m.rows == 1) {
            Tile::template run<1>(m, sums, columns, weights, NoPanel{}, 0);
        } else {
            const NextPanel next(panel + 1 < last_panel ? weights + panel_bytes : weights, tiles);
            for_each_tile<Tile>(m, sums, columns, weights, next);
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
