// SPDX-License-Identifier: Apache-2.0
// Questions about one Unicode scalar, at most 0x10FFFF, as Python answers them.
#pragma once

#include <cstdint>

#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// str.lower() where that is one scalar, else `scalar`.
std::uint32_t lower_case(std::uint32_t scalar) noexcept;

// What \w matches.
bool is_word_character(std::uint32_t scalar) noexcept;

// What str.split() splits at.
bool is_space_character(std::uint32_t scalar) noexcept;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
