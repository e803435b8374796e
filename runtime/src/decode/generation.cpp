// SPDX-License-Identifier: Apache-2.0
#include "etch/decode/generation.hpp"

#include "log_sum.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

void BestToken::run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept {
    if (first == last) return;
    MayBeWritten may_be_written(rules, count);
    bool found = false;
    std::uint32_t best = 0;
    for (std::uint32_t i = 0; i < rules.vocabulary; ++i) {
        if (!may_be_written(i)) continue;
        if (!found || logits[i] > logits[best]) best = i;
        found = true;
    }
    *token = static_cast<std::int32_t>(best);
    const float logit = logits[best];
    *log_probability = logit - log_sum(context.kernels, rules, count, logits);
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
