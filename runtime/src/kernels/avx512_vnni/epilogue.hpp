// SPDX-License-Identifier: Apache-2.0
// What the two matrix products share: how the output is cut into tiles, and what is done with a tile of sums. Included
// by avx512_vnni.cpp only.
#pragma once

#include <cstddef>
#include <type_traits>

#include "activation.hpp"
#include "vectors.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace avx512_vnni {
namespace {

constexpr unsigned kTileRows = 6;

// A tile's columns: kPanels neighbouring panels. Several are always whole; one alone may be the last and end early.
template <unsigned kPanels>
struct Columns {
    using Lanes = std::conditional_t<kPanels == 1, FirstLanes, AllLanes>;

    std::uint32_t first;  // column
    std::uint32_t count;  // at most kPanels * 16
    Lanes lanes;          // of each panel, those that exist

    static Columns of(std::uint32_t panel, std::uint32_t n) noexcept {
        const std::uint32_t first = panel * 16;
        if constexpr (kPanels == 1) {
            const std::uint32_t count = n - first < 16 ? n - first : 16;
            return {first, count, FirstLanes(count)};
        } else {
            return {first, kPanels * 16, AllLanes{}};
        }
    }

    // Per-column constants of one of the panels; `absent` for a null pointer.
    Floats load(const float* values, float absent, unsigned panel) const noexcept {
        return values == nullptr ? all(absent) : lanes.load(values + first + panel * 16);
    }
};

// y[row][panel], + residual unless null, to the tile's place in out.
template <unsigned kRows, unsigned kPanels, class Matmul>
ETCH_AVX512_INLINE void store_tile(const Matmul& m, const float* residual, float* out, const Columns<kPanels>& columns,
                                   const Floats (&y)[kRows][kPanels]) noexcept {
    ETCH_AVX512_UNROLL
    for (unsigned r = 0; r < kRows; ++r) {
        ETCH_AVX512_UNROLL
        for (unsigned p = 0; p < kPanels; ++p) {
            const bool add_residual = residual != nullptr;
            columns.lanes.store(out + p * 16,
                                add_residual ? add(y[r][p], columns.lanes.load(residual + p * 16)) : y[r][p]);
        }
        out += m.out_stride;
        if (residual != nullptr) residual += m.out_stride;
    }
}

// A row of a tile with the activation before the residual, which may be what out holds until then: on a copy.
template <unsigned kPanels, class Matmul>
ETCH_AVX512_INLINE void activate_and_store_row(const Matmul& m, const float* residual, float* out,
                                               const Columns<kPanels>& columns,
                                               const Floats (&y)[1][kPanels]) noexcept {
    alignas(64) float values[kPanels * 16];
    ETCH_AVX512_UNROLL
    for (unsigned p = 0; p < kPanels; ++p)
        store(values + p * 16, y[0][p]);
    apply_activation(m.activation, values, kPanels * 16);
    for (unsigned p = 0; p < kPanels; ++p) {
        columns.lanes.store(out + p * 16, add(load(values + p * 16), columns.lanes.load(residual + p * 16)));
    }
}

// Whether a product must be made a row at a time: a copy of a whole tile would be the largest thing on the stack, for
// what no generated model asks.
template <class Matmul>
ETCH_AVX512_INLINE bool activates_before_residual(const Matmul& m) noexcept {
    return m.activation != Activation::none && m.residual != nullptr;
}

// Activation and residual of a tile, y[row][panel] holding everything before; stores it. `Matmul` is MatmulS8 or
// MatmulF32.
template <unsigned kRows, unsigned kPanels, class Matmul>
ETCH_AVX512_INLINE void finish_tile(const Matmul& m, std::uint32_t row, const Columns<kPanels>& columns,
                                    const Floats (&y)[kRows][kPanels]) noexcept {
    const std::size_t at = row * m.out_stride + columns.first;
    float* out = m.out + at;
    const float* residual = m.residual == nullptr ? nullptr : m.residual + at;
    if constexpr (kRows == 1) {
        if (activates_before_residual(m)) return activate_and_store_row<kPanels>(m, residual, out, columns, y);
    }
    store_tile<kRows, kPanels>(m, residual, out, columns, y);
    if (m.activation == Activation::none) return;
    for (unsigned r = 0; r < kRows; ++r)
        apply_activation(m.activation, out + r * m.out_stride, columns.count);
}

// Walks the rows a tile at a time: Tile::run<rows of the tile>(m, arguments..., first row of the tile).
template <class Tile, class Matmul, class... Arguments>
ETCH_AVX512_INLINE void for_each_tile(const Matmul& m, const Arguments&... arguments) noexcept {
    static_assert(kTileRows == 6, "one case for each tail");
    std::uint32_t row = 0;
    if (activates_before_residual(m)) {
        for (; row < m.rows; ++row)
            Tile::template run<1>(m, arguments..., row);
    }
    for (; row + kTileRows <= m.rows; row += kTileRows)
        Tile::template run<kTileRows>(m, arguments..., row);
    switch (m.rows - row) {
        case 5:
            return Tile::template run<5>(m, arguments..., row);
        case 4:
            return Tile::template run<4>(m, arguments..., row);
        case 3:
            return Tile::template run<3>(m, arguments..., row);
        case 2:
            return Tile::template run<2>(m, arguments..., row);
        case 1:
            return Tile::template run<1>(m, arguments..., row);
        default:
            return;
    }
}

// The end of the panels up to `last` that have 16 columns.
ETCH_AVX512_INLINE std::uint32_t whole_panels(std::uint32_t n, std::uint32_t last) noexcept {
    return n / 16 < last ? n / 16 : last;
}

// Panels from `panel` on in groups of kPanels, as far as these fit before `last`: Group::run<kPanels>(m, first panel).
// Returns the first panel that is left.
template <unsigned kPanels, class Group, class Matmul>
ETCH_AVX512_INLINE std::uint32_t for_each_group(const Matmul& m, std::uint32_t panel, std::uint32_t last) noexcept {
    for (; panel + kPanels <= last; panel += kPanels)
        Group::template run<kPanels>(m, panel);
    return panel;
}

}  // namespace
}  // namespace avx512_vnni
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
