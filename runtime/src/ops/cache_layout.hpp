// SPDX-License-Identifier: Apache-2.0
// Where the values of a head lie: in rows, and in packed keys and values, of both element types.
#pragma once

#include <cstddef>
#include <cstdint>

#include "etch/ops/attention.hpp"
#include "etch/packing.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// First value of `head` in row `row`.
inline float* head_of(const F32Rows& rows, std::uint32_t row, const HeadShape& shape, std::uint32_t head) noexcept {
    return rows.data + std::size_t{row} * rows.width + std::size_t{head} * shape.head_width;
}

constexpr std::size_t packed_index(const std::int8_t*, Packing packing, std::size_t n, std::size_t k,
                                   std::size_t inputs) noexcept {
    return packed_s8_index(packing, n, k, inputs);
}

constexpr std::size_t packed_index(const float*, Packing packing, std::size_t n, std::size_t k,
                                   std::size_t inputs) noexcept {
    return packed_f32_index(packing, n, k, inputs);
}

// Tokens that are packed together: the last group of a text is padded.
constexpr std::size_t key_group(Packing packing) noexcept {
    return packing == Packing::panel ? kPanelWidth : 1;
}
constexpr std::size_t value_group(const std::int8_t*, Packing packing) noexcept {
    return packing == Packing::panel ? kPanelInputs : kEncodedPadding;
}
constexpr std::size_t value_group(const float*, Packing) noexcept {
    return 1;
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
