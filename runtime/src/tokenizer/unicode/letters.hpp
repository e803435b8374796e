// SPDX-License-Identifier: Apache-2.0
// Letters, numbers and white space as the expressions of `tokenizers` see them.
#pragma once

#include <cstdint>

#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

enum class Kind : std::uint8_t { other = 0, letter = 1, number = 2, space = 3 };

// Three stages; the last holds the kinds of 16 scalars in 32 bits. codegen/tokenizer/letter_tables.py writes them.
constexpr std::uint32_t kKindLeafBits = 4;
constexpr std::uint32_t kKindMiddleBits = 4;

extern const std::uint8_t kKindTop[];
extern const std::uint16_t kKindMiddle[];
extern const std::uint32_t kKindLeaves[];

constexpr bool is_ascii_letter(std::uint32_t scalar) noexcept {
    return (scalar | 0x20U) - 'a' < 26;
}

inline Kind kind_of(std::uint32_t scalar) noexcept {
    if (is_ascii_letter(scalar)) return Kind::letter;
    constexpr std::uint32_t kLeafMask = (1U << kKindLeafBits) - 1;
    constexpr std::uint32_t kMiddleMask = (1U << kKindMiddleBits) - 1;
    const std::uint32_t top = kKindTop[scalar >> (kKindLeafBits + kKindMiddleBits)];
    const std::uint32_t leaf = kKindMiddle[(top << kKindMiddleBits) + ((scalar >> kKindLeafBits) & kMiddleMask)];
    return static_cast<Kind>(kKindLeaves[leaf] >> (scalar & kLeafMask) * 2 & 3);
}

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
