// SPDX-License-Identifier: Apache-2.0
// The order in which avx2 takes rows and panels. Included inside its namespace, behind tile_s8.inl.

// The hardware follows the weights within a panel, but not from its last row tile to the next panel: 4 to 5 % at 44
// rows, on Zen 3. Where rows are few it follows from panel to panel, and would be held up: one row takes 1.6 times as
// long, 8 a tenth more, on Zen 4.
ETCH_INLINE void prefetch(const std::int8_t* weights, std::size_t bytes) noexcept {
    for (std::size_t i = 0; i < bytes; i += 64)
        _mm_prefetch(reinterpret_cast<const char*>(weights + i), _MM_HINT_T1);
}

constexpr std::uint32_t kFewRows = 16;

// Rows that stay in L2 while the weights pass by; whole tiles.
constexpr std::uint32_t kChunkRows = 63;

// m has at most kChunkRows rows.
template <class Weights>
ETCH_NOINLINE void multiply_chunk_s8(const MatmulS8& m, std::uint32_t first_panel, std::uint32_t last_panel) noexcept {
    std::int32_t first_sums[kChunkRows];
    TileS8<Weights>::find_first_sums(m, first_sums);
    const std::int32_t* const sums = first_sums;
    const std::size_t panel_bytes = std::size_t{(m.allocated_k + 3) / 4} * 64;
    for (std::uint32_t panel = first_panel; panel < last_panel; ++panel) {
        const std::int8_t* weights = m.weights + panel * panel_bytes;
        if (m.rows > kFewRows && panel + 1 < last_panel) prefetch(weights + panel_bytes, panel_bytes);
        for_each_tile<TileS8<Weights>>(m, sums, Columns<1>(panel, m.n, m.column_scales, m.bias), weights);
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
