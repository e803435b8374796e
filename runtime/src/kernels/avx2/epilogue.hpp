// SPDX-License-Identifier: Apache-2.0
// What the matrix products do with a tile of sums. Included by avx2.cpp only.
#pragma once

#include <cstddef>

#include "activation.hpp"
#include "vectors.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace avx2 {
namespace {

// The 16 columns of a panel that exist: all, or the first ones of the last panel.
struct PanelColumns {
    std::uint32_t first;  // column
    std::uint32_t count;  // 1 to 16

    PanelColumns(std::uint32_t panel, std::uint32_t n) noexcept
        : first(panel * 16), count(n - panel * 16 < 16 ? n - panel * 16 : 16) {}

    // Per-column constants; `absent` for a null pointer. Columns that do not exist get +0.0f.
    Floats load(const float* values, float absent) const noexcept {
        if (values == nullptr) return all(absent);
        return count == 16 ? avx2::load(values + first) : FirstLanes(count).load(values + first);
    }
};

// One row of a tile: + residual unless null, stored.
template <class Lanes>
ETCH_AVX2_INLINE void store_row(const float* residual, float* out, Floats y, Lanes lanes) noexcept {
    if (residual != nullptr) y = add(y, lanes.load(residual));
    lanes.store(out, y);
}

// Activation and residual of kRows rows, y[row] holding everything before; stores them. `Matmul` is MatmulS8 or
// MatmulF32.
template <unsigned kRows, class Matmul>
ETCH_AVX2_INLINE void finish_tile(const Matmul& m, std::uint32_t row, const PanelColumns& columns,
                                  Floats (&y)[kRows]) noexcept {
    if (m.activation != Activation::none) {
        alignas(32) float values[kRows * 16];
        ETCH_AVX2_UNROLL
        for (unsigned r = 0; r < kRows; ++r)
            store(values + r * 16, y[r]);
        apply_activation(m.activation, values, kRows * 16);
        ETCH_AVX2_UNROLL
        for (unsigned r = 0; r < kRows; ++r)
            y[r] = load(values + r * 16);
    }
    std::size_t at = row * m.out_stride + columns.first;
    ETCH_AVX2_UNROLL
    for (unsigned r = 0; r < kRows; ++r) {
        const float* residual = m.residual == nullptr ? nullptr : m.residual + at;
        if (columns.count == 16) {
            store_row(residual, m.out + at, y[r], AllLanes{});
        } else {
            store_row(residual, m.out + at, y[r], FirstLanes(columns.count));
        }
        at += m.out_stride;
    }
}

}  // namespace
}  // namespace avx2
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
