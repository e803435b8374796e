// SPDX-License-Identifier: Apache-2.0
#include "etch/decode/generation.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

void BestToken::run(const OpContext&, std::uint32_t first, std::uint32_t last) const noexcept {
    if (first == last) return;
    std::uint32_t next_never = 0;
    bool found = false;
    std::uint32_t best = 0;
    for (std::uint32_t i = 0; i < rules.vocabulary; ++i) {
        if (next_never < rules.never_count && static_cast<std::uint32_t>(rules.never[next_never]) == i) {
            ++next_never;
            continue;
        }
        if (!found || logits[i] > logits[best]) best = i;
        found = true;
    }
    *token = static_cast<std::int32_t>(best);
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
