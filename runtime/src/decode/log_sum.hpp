// SPDX-License-Identifier: Apache-2.0
// What turns logits into log-probabilities, and which tokens may be written.
#pragma once

#include <cstdint>

#include "../kernels/kernel_set.hpp"
#include "../kernels/polynomials.hpp"
#include "../kernels/scalar/math.hpp"
#include "etch/decode/generation.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

// Walks through the ids of a vocabulary in ascending order, behind `count` tokens.
class MayBeWritten {
  public:
    MayBeWritten(const TargetRules& rules, std::uint32_t count) noexcept
        : rules_(rules), no_end_(count < rules.least_tokens) {}

    bool operator()(std::uint32_t id) noexcept {
        if (no_end_ && static_cast<std::uint32_t>(rules_.end) == id) return false;
        if (next_ == rules_.never_count || static_cast<std::uint32_t>(rules_.never[next_]) != id) return true;
        ++next_;
        return false;
    }

  private:
    const TargetRules& rules_;
    bool no_end_;
    std::uint32_t next_ = 0;
};

// The logarithm of the sum of powers of e, as BestToken says; overwrites the logits.
inline float log_sum(const KernelSet& kernels, const TargetRules& rules, std::uint32_t count, float* logits) noexcept {
    constexpr float kNotThere = -0x1p100f;  // its power is 0
    if (rules.renormalize) {
        for (std::uint32_t i = 0; i < rules.never_count; ++i)
            logits[rules.never[i]] = kNotThere;
        if (count < rules.least_tokens) logits[rules.end] = kNotThere;
    }
    float largest = logits[0];
    for (std::uint32_t i = 0; i < rules.vocabulary; ++i) {
        largest = logits[i] > largest ? logits[i] : largest;
        logits[i] = logits[i] * polynomials::kLog2E;
    }
    const float powers = kernels.exp2_row(logits, rules.vocabulary);
    return largest + (scalar::log2(powers) * polynomials::kLn2);
}

}  // namespace
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
