// SPDX-License-Identifier: Apache-2.0
// f32 x f32 -> f32, four outputs of a row at a time, in the order of k with a separate multiplication and addition.
// Included inside the namespace of mve.
//
// a       [rows][k], row stride a_stride floats, 4-byte aligned.
// weights [n][allocated_k] f32 in Packing::rows, made by codegen/pack or by the Pack ops for keys and values;
//         4-byte aligned.
// out     [rows][n] f32, row stride out_stride floats; columns from n on are not touched. residual may be out.
// Any rows, n (columns that do not exist read those of the last one) and k.

// The sums of four columns by a row.
ETCH_INLINE Floats multiply_4(const float* a, const float* weights, uint32x4_t columns, std::uint32_t k) noexcept {
    Floats sum = all(0.0f);
    for (std::uint32_t i = 0; i < k; ++i) {
        const Floats w = vldrwq_gather_shifted_offset_f32(weights + i, columns);
        sum = vaddq_f32(sum, vmulq_n_f32(w, a[i]));
    }
    return sum;
}

void matmul_f32(const MatmulF32& m, std::uint32_t first_panel, std::uint32_t last_panel) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountMatmulF32);
    for_each_group(first_panel, last_panel, m.n, [&](std::uint32_t column, std::uint32_t count) ETCH_INLINE_BODY {
        const float* const bias = bias_of(m, column);
        for (std::uint32_t row = 0; row < m.rows; ++row) {
            float y[kGroup];
            const std::size_t at = row * m.out_stride + column;
            for (std::uint32_t i = 0; i < count; i += 4) {
                const std::uint32_t left = count - i;
                const uint32x4_t existing = {0, left > 1 ? 1u : 0u, left > 2 ? 2u : left - 1, left > 3 ? 3u : left - 1};
                Floats sum = multiply_4(m.a + row * m.a_stride, m.weights + std::size_t{column + i} * m.allocated_k,
                                        vmulq_n_u32(existing, m.allocated_k), m.k);
                if (m.row_scales != nullptr) sum = vmulq_n_f32(sum, m.row_scales[row]);
                vst1q_f32(y + i, vaddq_f32(sum, FirstLanes(left).read(bias + i)));
            }
            finish_activated(m.activation, y, count, residual_of(m, at), m.out + at);
        }
    });
}
