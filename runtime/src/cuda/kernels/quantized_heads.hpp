// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../kernels/device.hpp"
#include "etch/cuda/input.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

// Queries, keys and values of every head as s8, one scale per (part, head, token). A head's matrix is cut into chunks
// of 16 columns, zeros behind the last one, so that a tile of 16 tokens and 16 columns is 256 bytes in one piece: the
// tensor cores' loads want 32-byte alignment.
struct QuantizedHeads {
    enum Part : std::uint32_t { kQuery, kKey, kValue, kParts };

    std::int8_t* q;  // [kParts][heads][chunks][places][16], 256-byte aligned
    float* scales;   // [kParts][heads][places]
    std::uint32_t heads;
    std::uint32_t head_width;
    std::uint32_t places;  // most_places(); a multiple of kTile

    constexpr std::uint32_t chunks() const noexcept { return (head_width + kTile - 1) / kTile; }

    // From a chunk of columns to the next.
    ETCH_DEVICE std::size_t column_step() const noexcept { return std::size_t{places} * kTile; }
    // Of one place, the chunk of columns that begins at `column`.
    ETCH_DEVICE std::int8_t* tile(std::uint32_t part, std::uint32_t head, std::uint32_t place,
                                  std::uint32_t column) const noexcept {
        const std::size_t chunk = (std::size_t{part} * heads + head) * chunks() + column / kTile;
        return q + (chunk * places + place) * kTile;
    }
    ETCH_DEVICE float* scales_of(std::uint32_t part, std::uint32_t head) const noexcept {
        return scales + (std::size_t{part} * heads + head) * places;
    }
};

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
