// SPDX-License-Identifier: Apache-2.0
// Questions about one scalar, answered from unicode_tables.cpp.
#pragma once

#include <cstdint>

#include "unicode_tables.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

inline const Properties& properties(std::uint32_t scalar) noexcept {
    constexpr std::uint32_t kLeafMask = (1U << kLeafBits) - 1;
    constexpr std::uint32_t kMiddleMask = (1U << kMiddleBits) - 1;
    constexpr std::uint32_t kUpperMask = (1U << kUpperBits) - 1;
    const std::uint32_t top = kTop[scalar >> (kLeafBits + kMiddleBits + kUpperBits)];
    const std::uint32_t upper = kUpper[(top << kUpperBits) + ((scalar >> (kLeafBits + kMiddleBits)) & kUpperMask)];
    const std::uint32_t leaf = kMiddle[(upper << kMiddleBits) + ((scalar >> kLeafBits) & kMiddleMask)];
    return kProperties[kLeaves[(leaf << kLeafBits) + (scalar & kLeafMask)]];
}

inline bool is_white_space(std::uint32_t scalar) noexcept {
    return (properties(scalar).flags & Properties::kWhiteSpace) != 0;
}

inline bool is_word(std::uint32_t scalar) noexcept {
    return (properties(scalar).flags & Properties::kWord) != 0;
}

// The only lower case of more than one scalar: U+0130 becomes U+0069 U+0307.
constexpr std::uint32_t kLowerExpansion[2] = {0x69, 0x307};

struct Parts {
    std::uint32_t scalar[kSequenceLength];
    std::uint32_t count;
};

constexpr std::uint32_t kHangulFirst = 0xAC00;
constexpr std::uint32_t kHangulCount = 11172;

inline bool is_hangul_syllable(std::uint32_t scalar) noexcept {
    return scalar - kHangulFirst < kHangulCount;
}

inline Parts hangul_parts(std::uint32_t scalar) noexcept {
    constexpr std::uint32_t kVowels = 21;
    constexpr std::uint32_t kTrailing = 28;
    const std::uint32_t index = scalar - kHangulFirst;
    const std::uint32_t trailing = index % kTrailing;
    return {{0x1100U + index / (kVowels * kTrailing), 0x1161U + index / kTrailing % kVowels, 0x11A7U + trailing},
            trailing == 0 ? 2U : 3U};
}

// What strip_accents makes of a scalar that has Properties::kStrips.
Parts stripped_parts(std::uint32_t scalar) noexcept;

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
