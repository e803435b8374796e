// SPDX-License-Identifier: Apache-2.0
// Where the values of packed keys and values lie, of both element types.
#pragma once

#include <cstddef>
#include <cstdint>

#include "etch/packing.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

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
    return packing == Packing::panel ? 4 : 16;
}
constexpr std::size_t value_group(const float*, Packing) noexcept {
    return 1;
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
