// SPDX-License-Identifier: Apache-2.0
#include "charsmap.hpp"

#include "charsmap_search.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

const std::uint8_t* find_in_charsmap(const CharsmapNormalizer& map, const std::uint8_t* bytes,
                                     std::uint32_t size) noexcept {
    CharsmapSearch search(map.units);
    for (std::uint32_t i = 0; i < size && search.step(bytes[i]); ++i)
        if (search.is_key()) return map.texts + search.value();
    return nullptr;
}

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
