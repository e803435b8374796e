// SPDX-License-Identifier: Apache-2.0
// Views of activations in the arena: one row per token, row-major. Views do not own and do not check.
#pragma once

#include <cstddef>
#include <cstdint>

#include "etch/packing.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// f32 [rows][width], rows contiguous.
struct F32Rows {
    float* data;
    std::uint32_t width;

    constexpr F32Rows from(std::uint32_t row) const noexcept { return {data + std::size_t{row} * width, width}; }

    // The same values as more and shorter rows; `shorter` divides width.
    constexpr F32Rows in_rows_of(std::uint32_t shorter) const noexcept { return {data, shorter}; }
};

// Rows quantized for one kernel set: row r begins at data + r * stride_bytes and holds its values in the set's own
// encoding, followed by zeros up to a multiple of kEncodedPadding values. A row's real values are q * scales[r].
struct QuantizedRows {
    std::uint8_t* data;  // aligned to 16 bytes
    float* scales;       // [rows]
    std::size_t stride_bytes;

    constexpr QuantizedRows from(std::uint32_t row) const noexcept {
        return {data + row * stride_bytes, scales + row, stride_bytes};
    }
};

// Bytes of one row of `width` quantized values in an arena planned for `packing`.
constexpr std::size_t encoded_row_bytes(Packing packing, std::size_t width) noexcept {
    return round_up(width, kEncodedPadding) * max_encoded_row_bytes_per_value(packing);
}

// Rows [first, first + count) of a text.
struct RowBlock {
    std::uint32_t first;
    std::uint32_t count;
};

// Cuts `count` rows into blocks of at most `block` rows: for (RowBlock b : RowBlocks(count, block)).
class RowBlocks {
  public:
    constexpr RowBlocks(std::uint32_t count, std::uint32_t block) noexcept : count_(count), block_(block) {}

    struct Iterator {
        std::uint32_t first;
        std::uint32_t count;
        std::uint32_t block;

        constexpr RowBlock operator*() const noexcept { return {first, count - first < block ? count - first : block}; }
        constexpr Iterator& operator++() noexcept {
            first += count - first < block ? count - first : block;
            return *this;
        }
        constexpr bool operator!=(const Iterator& other) const noexcept { return first != other.first; }
    };
    constexpr Iterator begin() const noexcept { return {0, count_, block_}; }
    constexpr Iterator end() const noexcept { return {count_, count_, block_}; }

  private:
    std::uint32_t count_;
    std::uint32_t block_;
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
