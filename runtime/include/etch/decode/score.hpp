// SPDX-License-Identifier: Apache-2.0
// How likely a model of masked words finds a text: each token is masked in turn, one pass for each.
#pragma once

#include <cstdint>

#include "etch/decode/candidates.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// The pseudo-log-likelihood of a text.
struct Score {
    float log_probability;  // the sum over the tokens of the text, special ones that the template adds left out
    std::uint32_t scored;   // so many tokens
    std::uint32_t tokens;   // specials included
    bool truncated;         // the text had more tokens than fit
};

// How far it is, in the arena. The sum is Kahan's: the error does not grow with the text.
struct Scoring {
    ScoredEntry entry;
    Score score;
    float lost;              // of the sum, by rounding
    std::uint32_t position;  // of the next token that is masked,
    std::uint32_t end;       // behind the last one
    bool active;

    // Masks are filled from now on.
    void end_scoring() noexcept {
        entry.id = -1;
        active = false;
    }

    // The pass for the token before `position` is done.
    void add() noexcept {
        const float part = entry.log_probability - lost;
        const float sum = score.log_probability + part;
        lost = (sum - score.log_probability) - part;
        score.log_probability = sum;
        ++score.scored;
    }
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
