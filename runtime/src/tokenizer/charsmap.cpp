// SPDX-License-Identifier: Apache-2.0
// The double array of Darts-clone, in which the map is compiled (github.com/s-yata/darts-clone, darts.h).
#include "charsmap.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {
namespace {

constexpr bool has_leaf(std::uint32_t unit) noexcept {
    return (unit >> 8 & 1U) != 0;
}
constexpr std::uint32_t value(std::uint32_t unit) noexcept {
    return unit & 0x7FFFFFFFU;
}
constexpr std::uint32_t label(std::uint32_t unit) noexcept {
    return unit & 0x800000FFU;
}
constexpr std::uint32_t offset(std::uint32_t unit) noexcept {
    return unit >> 10 << ((unit & 0x200U) >> 6);
}

}  // namespace

const std::uint8_t* find_in_charsmap(const CharsmapNormalizer& map, const std::uint8_t* bytes,
                                     std::uint32_t size) noexcept {
    std::uint32_t at = offset(map.units[0]);
    for (std::uint32_t i = 0; i < size && bytes[i] != 0; ++i) {
        at ^= bytes[i];
        const std::uint32_t unit = map.units[at];
        if (label(unit) != bytes[i]) return nullptr;
        at ^= offset(unit);
        if (has_leaf(unit)) return map.texts + value(map.units[at]);
    }
    return nullptr;
}

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
