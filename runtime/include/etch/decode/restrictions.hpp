// SPDX-License-Identifier: Apache-2.0
// What may be written behind what is there: penalties of what repeats, n-grams that may come once, words that may not
// come. As the processors of logits of transformers 5 have it, on logits where the best tokens are written or drawn, on
// log-probabilities where beams search.
#pragma once

#include <cstdint>

#include "etch/ops/op.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// The same in every call.
struct Restrictions {
    float repetition_penalty;  // of tokens that are there: a value below 0 is multiplied by it, another divided
    std::uint32_t no_repeat;   // so many tokens in a row come once; 0: as often as may be
    const std::int32_t*
        words;                 // [word_count] one behind the other, each as its number of tokens, from 2 on, and these:
    std::uint32_t word_count;  // the last one is not written behind the others
    const std::int32_t* not_first;  // [not_first_count] not behind what a target begins with
    std::uint32_t not_first_count;
};

// Tokens: those that a target begins with, and those of a sequence that were written.
struct TokensBefore {
    const std::int32_t* begin;  // [begin_count]
    std::uint32_t begin_count;
    const std::int32_t* written;  // [written_count]
    std::uint32_t written_count;

    std::uint32_t count() const noexcept { return begin_count + written_count; }
    std::int32_t operator[](std::uint32_t i) const noexcept {
        return i < begin_count ? begin[i] : written[i - begin_count];
    }
};

// Changes `logits` [vocabulary] of the step behind these tokens: values are logits minus `shift`; one that may not be
// written becomes -2^100.
void restrict_logits(const Restrictions& restrictions, const TokensBefore& before, float shift, float* logits) noexcept;

// In a measure of cost().
constexpr std::uint64_t cost_of(const Restrictions& restrictions, std::uint32_t count) noexcept {
    return kCostOfValue * (std::uint64_t{count} * (count / 8 + 1 + restrictions.no_repeat) + restrictions.word_count);
}

// The same of a sequence whose best token is written, or one that is drawn: values are logits. One unit.
struct RestrictLogits {
    const Restrictions& restrictions;
    TokensBefore before;
    float* logits;

    std::uint32_t units() const noexcept { return 1; }
    std::uint64_t cost() const noexcept { return cost_of(restrictions, before.count()); }
    void run(const OpContext&, std::uint32_t first, std::uint32_t last) const noexcept {
        if (first != last) restrict_logits(restrictions, before, 0.0f, logits);
    }
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
