// SPDX-License-Identifier: Apache-2.0
#include "etch/decode/generation.hpp"

#include "largest_logits.hpp"
#include "log_sum.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

void BestToken::run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept {
    if (first == last) return;
    NextToken& best = writing.best;
    if (entries.first == 0) best = {logits[0], -1};
    largest_logits(context.kernels, rules, writing.count, entries, logits, 1, &best, best.id < 0 ? 0 : 1);
    add_powers_of_some(context.kernels, rules, writing.count, entries, logits, writing.sum);
    if (entries.first + entries.count < rules.vocabulary) return;
    *token = best.id < 0 ? 0 : best.id;
    writing.added = best.score - logarithm(writing.sum);
}

void HideTokens::run(const OpContext&, std::uint32_t first, std::uint32_t last) const noexcept {
    if (first != last) hide(rules, count, {0, rules.vocabulary}, logits);
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
