// SPDX-License-Identifier: Apache-2.0
// What becomes of the sums of a product, one value at a time, and the product of floats. For the sets plain and dsp,
// included inside their namespaces.

// Columns that are finished together: their floats are on the stack while an activation works on them.
constexpr std::uint32_t kGroup = 32;

#include "../rows/groups.inl"

// Activation, then residual, unless null, of `count` <= kGroup values y of a row, to their place in out.
ETCH_NOINLINE void finish_activated(Activation activation, float* y, std::uint32_t count, const float* residual,
                                    float* out) noexcept {
    apply_activation(activation, y, count);
    for (std::uint32_t i = 0; i < count; ++i)
        out[i] = residual == nullptr ? y[i] : y[i] + residual[i];
}

// The outputs of row `row` and the columns [column, column + count), count <= kGroup: column i's sum is sums[i *
// kStep].
template <std::uint32_t kStep>
ETCH_NOINLINE void finish_s8(const MatmulS8& m, std::uint32_t row, std::uint32_t column, std::uint32_t count,
                             const std::int32_t* sums) noexcept {
    const float* const scales = scales_of(m, column);
    const float* const bias = bias_of(m, column);
    const float row_scale = m.a.scales[row];
    const auto value = [=](std::uint32_t i) ETCH_INLINE_BODY {
        return (static_cast<float>(sums[i * kStep]) * row_scale) * scales[i] + bias[i];
    };
    const std::size_t at = row * m.out_stride + column;
    float* const out = m.out + at;
    if (m.residual == nullptr) {
        for (std::uint32_t i = 0; i < count; ++i)
            out[i] = value(i);
        return apply_activation(m.activation, out, count);
    }
    const float* const residual = m.residual + at;
    if (m.activation == Activation::none) {
        for (std::uint32_t i = 0; i < count; ++i)
            out[i] = value(i) + residual[i];
        return;
    }
    // The activation comes before the residual, which may be what out holds until then. No generated model asks for it.
    float y[kGroup];
    for (std::uint32_t i = 0; i < count; ++i)
        y[i] = value(i);
    finish_activated(m.activation, y, count, residual, out);
}

// a [rows][k], row stride a_stride floats; weights [n][allocated_k] in Packing::rows; out [rows][n], row stride
// out_stride floats, columns from n on are not touched; residual may be out. One output at a time.
void matmul_f32(const MatmulF32& m, std::uint32_t first_panel, std::uint32_t last_panel) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountMatmulF32);
    for_each_group(first_panel, last_panel, m.n, [&m](std::uint32_t column, std::uint32_t count) noexcept {
        const float* const bias = bias_of(m, column);
        for (std::uint32_t row = 0; row < m.rows; ++row) {
            const float* const a = m.a + row * m.a_stride;
            float y[kGroup];
            for (std::uint32_t i = 0; i < count; ++i) {
                const float* const weights = m.weights + std::size_t{column + i} * m.allocated_k;
                float sum = 0.0f;
                for (std::uint32_t k = 0; k < m.k; ++k)
                    sum = sum + a[k] * weights[k];
                if (m.row_scales != nullptr) sum = sum * m.row_scales[row];
                y[i] = sum + bias[i];
            }
            const std::size_t at = row * m.out_stride + column;
            finish_activated(m.activation, y, count, residual_of(m, at), m.out + at);
        }
    });
}
