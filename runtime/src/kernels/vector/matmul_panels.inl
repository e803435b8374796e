// SPDX-License-Identifier: Apache-2.0
// The product of sets whose TileS8 needs nothing but a panel's weights. Included inside their namespaces.

void matmul_s8(const MatmulS8& m, std::uint32_t first_panel, std::uint32_t last_panel) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountMatmulS8);
    const std::size_t panel_bytes = packed_s8_bytes(Packing::panel, kPanelWidth, m.allocated_k);
    for (std::uint32_t panel = first_panel; panel < last_panel; ++panel)
        for_each_tile<TileS8>(m, Columns<1>(panel, m.n, m.column_scales, m.bias), m.weights + panel * panel_bytes);
}
