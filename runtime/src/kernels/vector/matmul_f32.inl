// SPDX-License-Identifier: Apache-2.0
// f32 x f32 -> f32, tiles of kRowsF32 rows x 16 columns, the whole K in registers, in the order of k with a separate
// multiplication and addition. Included inside the namespace of each kernel set.
//
// a       [rows][k], row stride a_stride floats, any alignment.
// weights [n][allocated_k] f32 in Packing::panel, made by codegen/pack or by the Pack ops; any alignment.
// out     [rows][n] f32, row stride out_stride floats; columns from n on are not touched. residual may be out.
// Any rows (each tail has its own tile), any n (the last panel may be cut), any k.
//
// An addition takes 3 or 4 cycles: 6 sums keep an adder busy. Measured slower with AVX-512 on Zen 4: tiles of 32
// columns by 20 %, of 64 by 5 %.

struct TileF32 {
    static constexpr unsigned kMaxRows = kRowsF32;

    template <unsigned kRows>
    static ETCH_NOINLINE void run(const MatmulF32& m, const Columns<1>& columns, const float* weights,
                                  std::uint32_t row) noexcept {
        const float* a = m.a + row * m.a_stride;
        const std::size_t a_stride = m.a_stride;
        Floats y[kRows][1];
        ETCH_UNROLL
        for (unsigned r = 0; r < kRows; ++r)
            y[r][0] = all<Floats>(0.0f);

        for (std::uint32_t i = 0; i < m.k; ++i) {
            const Floats w = load<Floats>(weights);
            weights += 16;
            ETCH_UNROLL
            for (unsigned r = 0; r < kRows; ++r)
                y[r][0] = add(y[r][0], mul(all<Floats>(a[r * a_stride]), w));
            ++a;
        }

        const Floats bias = columns.bias(0);
        ETCH_UNROLL
        for (unsigned r = 0; r < kRows; ++r) {
            if (m.row_scales != nullptr) y[r][0] = mul(y[r][0], all<Floats>(m.row_scales[row + r]));
            y[r][0] = add(y[r][0], bias);
        }
        finish_tile(m, row, columns, y);
    }
};

void matmul_f32(const MatmulF32& m, std::uint32_t first_panel, std::uint32_t last_panel) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountMatmulF32);
    for (std::uint32_t panel = first_panel; panel < last_panel; ++panel)
        for_each_tile<TileF32>(m, Columns<1>(panel, m.n, nullptr, m.bias),
                               m.weights + std::size_t{panel} * m.allocated_k * 16);
}
