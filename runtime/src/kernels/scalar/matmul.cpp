// SPDX-License-Identifier: Apache-2.0
// Matrix products, one output at a time.
//
// a       [rows][k], row-major. s8: encoded rows, one byte a value, k padded with zeros to kEncodedPadding, row stride
//         in bytes. f32: row stride in floats.
// weights [n][allocated_k] in kPacking (packing.hpp), made by codegen/pack or by the Pack ops for keys and values.
// out     [rows][n] f32, row stride out_stride floats; columns beyond n are not written. Any rows, k and n.
#include "../call_count.hpp"
#include "scalar.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace scalar {
namespace {

template <Packing kPacking>
std::int32_t dot_s8(const MatmulS8& m, std::uint32_t row, std::uint32_t column) noexcept {
    const std::int8_t* a = reinterpret_cast<const std::int8_t*>(m.a.data + row * m.a.stride_bytes);
    std::int32_t sum = 0;
    for (std::uint32_t k = 0; k < m.k; ++k)
        sum += a[k] * m.weights[packed_s8_index(kPacking, column, k, m.allocated_k)];
    return sum;
}

template <Packing kPacking>
float dot_f32(const MatmulF32& m, std::uint32_t row, std::uint32_t column) noexcept {
    const float* a = m.a + row * m.a_stride;
    float sum = 0.0f;
    for (std::uint32_t k = 0; k < m.k; ++k)
        sum = sum + a[k] * m.weights[packed_f32_index(kPacking, column, k, m.allocated_k)];
    return sum;
}

// Columns of one panel of one row: activation, then residual.
template <class Matmul>
void finish(const Matmul& m, std::uint32_t row, std::uint32_t column, float* y, std::uint32_t count) noexcept {
    apply_activation(m.activation, y, count);
    const std::size_t at = row * m.out_stride + column;
    for (std::uint32_t i = 0; i < count; ++i)
        m.out[at + i] = m.residual == nullptr ? y[i] : y[i] + m.residual[at + i];
}

// Calls value(row, column) for every output of the panels [first, last) and finishes them.
template <class Matmul, class Value>
void for_each_output(const Matmul& m, std::uint32_t first, std::uint32_t last, Value value) noexcept {
    for (std::uint32_t panel = first; panel < last; ++panel) {
        const std::uint32_t column = panel * kPanelWidth;
        const std::uint32_t count = m.n - column < kPanelWidth ? m.n - column : kPanelWidth;
        for (std::uint32_t row = 0; row < m.rows; ++row) {
            float y[kPanelWidth];
            for (std::uint32_t i = 0; i < count; ++i)
                y[i] = value(row, column + i);
            finish(m, row, column, y, count);
        }
    }
}

template <Packing kPacking>
void matmul_s8(const MatmulS8& m, std::uint32_t first_panel, std::uint32_t last_panel) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCountScalar, kCountMatmulS8);
    for_each_output(m, first_panel, last_panel, [&m](std::uint32_t row, std::uint32_t column) noexcept {
        const float sum = static_cast<float>(dot_s8<kPacking>(m, row, column));
        const float column_scale = m.column_scales == nullptr ? 1.0f : m.column_scales[column];
        const float bias = m.bias == nullptr ? 0.0f : m.bias[column];
        return (sum * m.a.scales[row]) * column_scale + bias;
    });
}

template <Packing kPacking>
void matmul_f32(const MatmulF32& m, std::uint32_t first_panel, std::uint32_t last_panel) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCountScalar, kCountMatmulF32);
    for_each_output(m, first_panel, last_panel, [&m](std::uint32_t row, std::uint32_t column) noexcept {
        float sum = dot_f32<kPacking>(m, row, column);
        if (m.row_scales != nullptr) sum = sum * m.row_scales[row];
        return sum + (m.bias == nullptr ? 0.0f : m.bias[column]);
    });
}

}  // namespace

void matmul_s8_panel(const MatmulS8& m, std::uint32_t first, std::uint32_t last) noexcept {
    matmul_s8<Packing::panel>(m, first, last);
}

void matmul_s8_rows(const MatmulS8& m, std::uint32_t first, std::uint32_t last) noexcept {
    matmul_s8<Packing::rows>(m, first, last);
}

void matmul_f32_panel(const MatmulF32& m, std::uint32_t first, std::uint32_t last) noexcept {
    matmul_f32<Packing::panel>(m, first, last);
}

void matmul_f32_rows(const MatmulF32& m, std::uint32_t first, std::uint32_t last) noexcept {
    matmul_f32<Packing::rows>(m, first, last);
}

}  // namespace scalar
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
