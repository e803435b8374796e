// SPDX-License-Identifier: Apache-2.0
// Those of the tokens that may be written which have the largest logits.
#pragma once

#include <cstdint>

#include "../kernels/kernel_set.hpp"
#include "etch/decode/generation.hpp"
#include "etch/ops/rows.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// The `most` tokens with the largest logits that may be written behind `count` others, the largest first, of equal ones
// the lowest id; their scores are the logits. Among them are the `held` ones of the entries before these, and of these
// with `logits` [entries.count]. `most` >= 1. Returns how many there are.
std::uint32_t largest_logits(const KernelSet& kernels, const TargetRules& rules, std::uint32_t count,
                             const RowBlock& entries, const float* logits, std::uint32_t most, NextToken* tokens,
                             std::uint32_t held) noexcept;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
