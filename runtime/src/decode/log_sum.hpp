// SPDX-License-Identifier: Apache-2.0
// What turns logits into log-probabilities.
#pragma once

#include <cstdint>

#include "../kernels/kernel_set.hpp"
#include "../kernels/polynomials.hpp"
#include "../kernels/scalar/math.hpp"
#include "etch/decode/generation.hpp"
#include "etch/decode/vocabulary.hpp"
#include "etch/ops/rows.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

constexpr float kNotThere = -0x1p100f;  // a token's logit: its power is 0

// Sums of exp2(t - M) and of exp2(t - m) as one, each t less the larger of M and m.
inline float joined_powers(const KernelSet& kernels, float largest, float powers, float other_largest,
                           float other_powers) noexcept {
    float factors[2] = {largest, other_largest};
    kernels.exp2_row(factors, 2);
    return (powers * factors[0]) + (other_powers * factors[1]);
}

// Leaves out the powers of tokens that may not be written behind `count` others. `logits` are those of the entries.
inline void hide(const TargetRules& rules, std::uint32_t count, const RowBlock& entries, float* logits) noexcept {
    const auto leave_out = [&](std::int32_t id) {
        const std::uint32_t at = static_cast<std::uint32_t>(id) - entries.first;
        if (at < entries.count) logits[at] = kNotThere;
    };
    for (std::uint32_t i = 0; i < rules.never_count; ++i)
        leave_out(rules.never[i]);
    if (count >= rules.least_tokens) return;
    for (std::uint32_t i = 0; i < rules.end_count; ++i)
        leave_out(rules.ends[i]);
}

// Takes these entries into account, from the first ones to the last in this order; `entries.first` is a multiple of
// kVocabularyBlock.
inline void add_powers(const KernelSet& kernels, const RowBlock& entries, const float* logits, LogSum& sum) noexcept {
    for (const RowBlock block : RowBlocks(entries.count, kVocabularyBlock)) {
        const float* const of_block = logits + block.first;
        const float largest = kernels.largest_value(of_block, block.count);
        const float powers = kernels.exp2_sum(of_block, block.count, polynomials::kLog2E, largest);
        if (entries.first + block.first == 0) {
            sum = {largest, powers};
        } else {
            sum.powers = joined_powers(kernels, sum.largest * polynomials::kLog2E, sum.powers,
                                       largest * polynomials::kLog2E, powers);
            sum.largest = largest > sum.largest ? largest : sum.largest;
        }
    }
}

// The logarithm of the sum of powers of e: M + log2(S) * ln(2), with M the largest logit and S the sum of powers.
inline float logarithm(const LogSum& sum) noexcept {
    return sum.largest + (scalar::log2(sum.powers) * polynomials::kLn2);
}

// As add_powers(), of those that probabilities are among. The logits of others are overwritten.
inline void add_powers_of_some(const KernelSet& kernels, const TargetRules& rules, std::uint32_t count,
                               const RowBlock& entries, float* logits, LogSum& sum) noexcept {
    if (rules.renormalize) hide(rules, count, entries, logits);
    add_powers(kernels, entries, logits, sum);
}

}  // namespace
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
