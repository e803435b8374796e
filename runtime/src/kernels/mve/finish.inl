// SPDX-License-Identifier: Apache-2.0
// What becomes of the sums of a product. Included inside the namespace of mve.

// Columns that are finished together: their sums wait on the stack for the end of a group. A multiple of the 3 columns
// of a tile and of a panel; many, so that few groups end with a tile that is cut.
constexpr std::uint32_t kGroup = 144;

#include "../rows/groups.inl"

// Activation, then residual, unless null, of `count` <= kGroup values y of a row, to their place in out.
ETCH_NOINLINE void finish_activated(Activation activation, float* y, std::uint32_t count, const float* residual,
                                    float* out) noexcept {
    apply_activation(activation, y, count);
    for_each_4(count, [=](std::uint32_t i, auto lanes) ETCH_INLINE_BODY {
        const Floats value = lanes.read(y + i);
        lanes.write(out + i, residual == nullptr ? value : vaddq_f32(value, lanes.read(residual + i)));
    });
}

// The sums of a group of columns for two rows; the last tile may have columns that do not exist.
struct Sums {
    std::int32_t rows[2][kGroup];
};

// The outputs of the rows row0 and row1, which may be the same, and the columns [column, column + count), count <=
// kGroup.
ETCH_NOINLINE void finish_s8(const MatmulS8& m, std::uint32_t row0, std::uint32_t row1, std::uint32_t column,
                             std::uint32_t count, const Sums& sums) noexcept {
    const float* const scales = scales_of(m, column);
    const float* const bias = bias_of(m, column);
    TwoRows rows;
    unsigned i = 0;
    for (const std::uint32_t row : {row0, row1}) {
        const std::size_t at = row * m.out_stride + column;
        rows.sums[i] = sums.rows[i];
        rows.row_scales[i] = m.a.scales[row];
        rows.out[i] = m.out + at;
        rows.residual[i] = residual_of(m, at);
        ++i;
    }
    if (m.activation == Activation::none)
        return finish_columns(rows, scales, bias, count, m.residual != nullptr, false);
    if (m.residual == nullptr) {
        const bool relu = m.activation == Activation::relu;
        finish_columns(rows, scales, bias, count, false, relu);
        if (relu) return;
        apply_activation(m.activation, rows.out[0], count);
        if (row1 != row0) apply_activation(m.activation, rows.out[1], count);
        return;
    }
    // The activation comes before the residual, which may be what out holds until then. No generated model asks for it.
    float y[2][kGroup];
    TwoRows activated = rows;
    activated.out[0] = y[0];
    activated.out[1] = y[1];
    finish_columns(activated, scales, bias, count, false, false);
    finish_activated(m.activation, y[0], count, rows.residual[0], rows.out[0]);
    if (row1 != row0) finish_activated(m.activation, y[1], count, rows.residual[1], rows.out[1]);
}
