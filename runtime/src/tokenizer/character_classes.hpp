// SPDX-License-Identifier: Apache-2.0
// The class of a character.
#pragma once

#include <cstdint>

#include "etch/tokenizer/segmenters.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

inline std::uint32_t class_of(const CharacterClasses& classes, std::uint32_t scalar) noexcept {
    if (scalar < 0x80U) return classes.ascii_classes[scalar];
    constexpr std::uint32_t kClassMask = (1U << CharacterClasses::kClassBits) - 1;
    std::uint32_t low = 0;
    for (std::uint32_t high = classes.range_count; high - low > 1;) {
        const std::uint32_t middle = low + (high - low) / 2;
        if (classes.class_ranges[middle] >> CharacterClasses::kClassBits <= scalar) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return classes.class_ranges[low] & kClassMask;
}

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
