// SPDX-License-Identifier: Apache-2.0
#include "etch/ops/pool.hpp"

#include "../kernels/row_sum.hpp"
#include "../kernels/square_root.hpp"
#include "tiny.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

// One unit: `columns` <= kPoolColumns neighbouring columns of the text's rows, x[row * stride + column].
struct Columns {
    const float* x;
    std::uint32_t stride;
    std::uint32_t rows;
    std::uint32_t columns;
};

void sum(const Columns& from, float factor, float* out) noexcept {
    float sums[kPoolColumns] = {};
    for (std::uint32_t row = 0; row < from.rows; ++row) {
        const float* x = from.x + std::size_t{row} * from.stride;
        for (std::uint32_t i = 0; i < from.columns; ++i)
            sums[i] = sums[i] + without_tiny(x[i]);
    }
    for (std::uint32_t i = 0; i < from.columns; ++i)
        out[i] = sums[i] * factor;
}

void weighted_sum(const Columns& from, float factor, float* out) noexcept {
    float sums[kPoolColumns] = {};
    for (std::uint32_t row = 0; row < from.rows; ++row) {
        const float* x = from.x + std::size_t{row} * from.stride;
        const float weight = static_cast<float>(row + 1);
        for (std::uint32_t i = 0; i < from.columns; ++i)
            sums[i] = sums[i] + without_tiny(x[i]) * weight;
    }
    for (std::uint32_t i = 0; i < from.columns; ++i)
        out[i] = sums[i] * factor;
}

void maximum(const Columns& from, float* out) noexcept {
    for (std::uint32_t i = 0; i < from.columns; ++i)
        out[i] = without_tiny(from.x[i]);
    for (std::uint32_t row = 1; row < from.rows; ++row) {
        const float* x = from.x + std::size_t{row} * from.stride;
        for (std::uint32_t i = 0; i < from.columns; ++i) {
            const float value = without_tiny(x[i]);
            out[i] = value > out[i] ? value : out[i];
        }
    }
}

}  // namespace

void Pool::run(const OpContext&, std::uint32_t first, std::uint32_t last) const noexcept {
    const float rows = static_cast<float>(count);
    for (std::uint32_t unit = first; unit < last; ++unit) {
        const std::uint32_t column = unit * kPoolColumns;
        const std::uint32_t left = out.width - column;
        const Columns from{input.data + column, input.width, count, left < kPoolColumns ? left : kPoolColumns};
        float* const to = out.data + column;
        switch (kind) {
            case Pooling::first:
                maximum({from.x, from.stride, 1, from.columns}, to);
                break;
            case Pooling::last:
                maximum({from.x + std::size_t{count - 1} * from.stride, from.stride, 1, from.columns}, to);
                break;
            case Pooling::ends:
                for (std::uint32_t i = 0; i < from.columns; ++i) {
                    const std::uint32_t row = column + i < input.width / 2 ? count - 1 : 0;
                    to[i] = without_tiny(from.x[std::size_t{row} * from.stride + i]);
                }
                break;
            case Pooling::mean:
                sum(from, 1.0f / rows, to);
                break;
            case Pooling::max:
                maximum(from, to);
                break;
            case Pooling::mean_sqrt:
                sum(from, 1.0f / square_root(rows), to);
                break;
            case Pooling::weighted_mean:
                weighted_sum(from, 1.0f / (rows * static_cast<float>(count + 1) * 0.5f), to);
                break;
        }
    }
}

void Normalize::run(const OpContext&, std::uint32_t first, std::uint32_t last) const noexcept {
    constexpr float kLeastLength = 1e-12f;
    for (std::uint32_t row = first; row < last; ++row) {
        float* const x = rows.from(row).data;
        RowSum squares;
        for (std::uint32_t i = 0; i < rows.width; ++i) {
            x[i] = without_tiny(x[i]);
            squares.add(i, x[i] * x[i]);
        }
        const float length = square_root(squares.total());
        const float factor = 1.0f / (length > kLeastLength ? length : kLeastLength);
        for (std::uint32_t i = 0; i < rows.width; ++i)
            x[i] = x[i] * factor;
    }
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
