// SPDX-License-Identifier: Apache-2.0
// A block of threads or a warp of one for each row; the row lies in shared memory as f32.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../kernels/device.hpp"
#include "etch/version.hpp"
#include "grid.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

// Every device since compute capability 8.0 has this much shared memory for a block, if asked for.
inline constexpr std::size_t kMostSharedBytes = 99 * 1024 - 256;

inline constexpr std::uint32_t kRowThreads = 256;

// So many rows that one need not be done soon: a warp for each, without barriers, has then done more of them than a
// block for each.
inline constexpr std::uint32_t kManyRows = 1024;

// Where each row has a warp.
inline constexpr std::uint32_t kRowsOfBlock = 2;
inline constexpr std::uint32_t kRowWarpThreads = 32 * kRowsOfBlock;

// The widest row that a warp can have.
inline constexpr std::uint32_t kMostColumns = kMostSharedBytes / kRowsOfBlock / sizeof(float);

// Floats of a row in shared memory, of which each begins at a multiple of 16 bytes.
constexpr std::uint32_t row_floats(std::uint32_t width) noexcept {
    return (width + 3) / 4 * 4;
}

constexpr Grid row_grid(std::uint32_t rows, bool by_warps) noexcept {
    return {by_warps ? (rows + kRowsOfBlock - 1) / kRowsOfBlock : rows};
}

// Shared memory of a block whose rows have so many floats of it each.
constexpr std::size_t row_bytes(std::uint32_t floats, bool by_warps) noexcept {
    return (by_warps ? kRowsOfBlock : 1) * floats * sizeof(float);
}

// f(team, row, values) for a block's rows, values `floats` in shared memory: the team is a warp or the block.
template <bool kByWarps, class Block, class F>
ETCH_DEVICE void for_each_row(Block& block, std::uint32_t rows, std::uint32_t floats, F f) noexcept {
    float* const values = reinterpret_cast<float*>(block.shared());
    if constexpr (kByWarps) {
        block.warps([&](auto& warp) {
            const std::uint32_t row = block.x() * Block::kWarps + warp.index();
            if (row < rows) f(warp, row, values + warp.index() * floats);
        });
    } else {
        if (block.x() < rows) f(block, block.x(), values);
    }
}

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
