// SPDX-License-Identifier: Apache-2.0
// The same texts with another number of rows each.
#pragma once

#include <cstdint>

#include "etch/ops/texts.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// In `to`, which has room for all of them: a text has as many rows as `count_of` makes of its own, behind those of the
// texts before it, and keeps its place.
template <class CountOf>
Texts with_other_counts(const Texts& texts, TextRows* to, CountOf count_of) noexcept {
    std::uint32_t first = 0;
    for (std::uint32_t t = 0; t < texts.count; ++t) {
        const std::uint32_t count = count_of(texts.texts[t].count);
        to[t] = whole_text(count, first, texts.texts[t].place);
        first += count;
    }
    return {to, texts.count};
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
