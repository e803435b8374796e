// SPDX-License-Identifier: Apache-2.0
// How many tokens of each text are kept when a pair does not fit.
#pragma once

#include <cstdint>

#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

struct Kept {
    std::uint32_t first;
    std::uint32_t second;
};

// "longest_first": a short text is kept whole, and the other one gets what is left; otherwise both get half, the longer
// one the odd token. On a tie the second counts as the longer.
constexpr Kept longest_first(std::uint32_t first, std::uint32_t second, std::uint32_t room) noexcept {
    if (std::uint64_t{first} + second <= room) return {first, second};
    std::uint32_t shorter = first <= second ? first : second;
    std::uint32_t longer = shorter;
    if (shorter <= room && room - shorter > shorter) longer = room - shorter;
    if (std::uint64_t{shorter} + longer > room) {
        shorter = room / 2;
        longer = shorter + room % 2;
    }
    return first <= second ? Kept{shorter, longer} : Kept{longer, shorter};
}

// "only_first": the second text stays whole. Where nothing of the first one would be left, nothing of either is.
constexpr Kept only_first(std::uint32_t first, std::uint32_t second, std::uint32_t room) noexcept {
    if (std::uint64_t{first} + second <= room) return {first, second};
    return second < room ? Kept{room - second, second} : Kept{0, 0};
}

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
