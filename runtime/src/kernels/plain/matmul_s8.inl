// SPDX-License-Identifier: Apache-2.0
// s8 x s8 -> s32 -> f32, tiles of 2 rows x 2 columns, the whole K in registers. Included inside the namespace of plain.
//
// a       [rows][k], plain s8; zeros up to a multiple of kEncodedPadding values; row stride in bytes, any alignment.
// weights [n][allocated_k] s8 in Packing::rows, made by codegen/pack or by the Pack ops; any alignment.
// out     [rows][n] f32, row stride out_stride floats; columns from n on are not touched. residual may be out.
// Any rows and n: the last of an odd number is computed twice, and stored once. Any k.
//
// A multiplication needs an operand of each side: 4 loads for 4 of them, where one output at a time has 8.

// Rows whose sums wait for the end of a group of columns.
constexpr std::uint32_t kTileRows = 2;

// sums[0 .. 3] of two columns x two rows, padding included.
ETCH_INLINE void multiply_2x2(const std::int8_t* a0, const std::int8_t* a1, const std::int8_t* w0,
                              const std::int8_t* w1, std::uint32_t k, std::int32_t (&sums)[4]) noexcept {
    std::int32_t s00 = 0;
    std::int32_t s01 = 0;
    std::int32_t s10 = 0;
    std::int32_t s11 = 0;
    const std::int8_t* const end = a0 + k;
    while (a0 != end) {
        ETCH_UNROLL
        for (unsigned i = 0; i < 4; ++i) {
            s00 += a0[i] * w0[i];
            s01 += a1[i] * w0[i];
            s10 += a0[i] * w1[i];
            s11 += a1[i] * w1[i];
        }
        a0 += 4;
        a1 += 4;
        w0 += 4;
        w1 += 4;
    }
    sums[0] = s00;
    sums[1] = s01;
    sums[2] = s10;
    sums[3] = s11;
}

void matmul_s8(const MatmulS8& m, std::uint32_t first_panel, std::uint32_t last_panel) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountMatmulS8);
    const std::uint32_t k = (m.k + 3) / 4 * 4;
    const std::size_t weights_stride = round_up(m.allocated_k, 16);
    for_each_group(first_panel, last_panel, m.n, [&](std::uint32_t column, std::uint32_t count) noexcept {
        for (std::uint32_t row = 0; row < m.rows; row += kTileRows) {
            const std::int8_t* const a0 = reinterpret_cast<const std::int8_t*>(m.a.data + row * m.a.stride_bytes);
            const bool two_rows = row + 1 < m.rows;
            const std::int8_t* const a1 = two_rows ? a0 + m.a.stride_bytes : a0;
            std::int32_t sums[kGroup * kTileRows];  // [column][row]
            for (std::uint32_t i = 0; i < count; i += 2) {
                const std::int8_t* const w0 = m.weights + (column + i) * weights_stride;
                std::int32_t four[4];
                multiply_2x2(a0, a1, w0, i + 1 < count ? w0 + weights_stride : w0, k, four);
                for (unsigned j = 0; j < 4; ++j)
                    sums[i * kTileRows + j] = four[j];
            }
            finish_s8<kTileRows>(m, row, column, count, sums);
            if (two_rows) finish_s8<kTileRows>(m, row + 1, column, count, sums + 1);
        }
    });
}
