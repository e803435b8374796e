// SPDX-License-Identifier: Apache-2.0
// What the host stages for a batch: its texts' rows one after the other, and which rows belong to which text.
#pragma once

#include <cstdint>

#include "etch/packing.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

// The true counts. Grids are made for more, so that a captured graph serves every length of its bucket.
struct Counts {
    std::uint32_t rows;
    std::uint32_t texts;
    std::uint32_t unused[2];
};

struct RowInfo {
    std::int32_t id;
    std::uint32_t segment;
    std::uint32_t position;  // in its text
    std::uint32_t text;
};

// Rows [first, first + count) of the batch. Among the quantized heads the text has the tokens [place, place + count),
// place a multiple of kTile, so that no tile of 16 tokens belongs to two texts.
struct TextInfo {
    std::uint32_t first;
    std::uint32_t count;
    std::uint32_t place;
    std::uint32_t unused;
};

inline constexpr std::uint32_t kTile = 16;

// Tokens among which `texts` texts of `rows` rows together find a place, however the rows are shared out.
constexpr std::uint32_t most_places(std::uint32_t rows, std::uint32_t texts) noexcept {
    return static_cast<std::uint32_t>(round_up(std::size_t{rows} + std::size_t{texts} * (kTile - 1), kTile));
}

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
