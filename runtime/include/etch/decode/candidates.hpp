// SPDX-License-Identifier: Apache-2.0
// The likeliest entries of a vocabulary for each mask of a text. Logits of a block of entries at a time are enough:
// what is kept of a row is the best so far, and what their probabilities need.
#pragma once

#include <cstdint>

#include "etch/decode/vocabulary.hpp"
#include "etch/ops/op.hpp"
#include "etch/ops/rows.hpp"
#include "etch/ops/texts.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// An entry that may stand where a mask is.
struct Candidate {
    std::int32_t id;
    float probability;  // over the whole vocabulary
};

// Which rows of a batch are the masks of one text.
struct MaskRows {
    const std::uint32_t* rows;  // [count]
    std::uint32_t count;
};

// Writes the rows of `text` whose id is `mask` to rows[text.first] and the following, and behind them what ends them
// where the text has other tokens. `ids` and `rows` are [rows of the batch].
void note_masks(const std::int32_t* ids, const TextRows& text, std::int32_t mask, std::uint32_t* rows) noexcept;

// The same where one row, a number in the text, is masked.
void note_mask(const TextRows& text, std::uint32_t row, std::uint32_t* rows) noexcept;

// What note_masks() or note_mask() wrote.
MaskRows masks_of(const TextRows& text, const std::uint32_t* rows) noexcept;

// The entry that stands at a mask: what the model says of it.
struct ScoredEntry {
    std::int32_t id;        // none where it is negative
    float t;                // its logit * log2(e)
    float log_probability;  // over the whole vocabulary
};

// Takes the logits of the entries [entries.first, entries.first + entries.count) into account, of the first ones to the
// last in this order. With t = logit * log2(e), M is the largest t so far and S the sum of powers so far: of the first
// block its row sum of exp2(t - its largest); then, with m the largest t of a block and T the larger of M and m,
//     S = S * exp2(M - T) + (row sum of exp2(t - m)) * exp2(m - T), M = T.
// A row of `best` is the k largest t, the largest first, of equal ones the first entry's; behind them the entries, as
// floats, which hold numbers up to 2^24 exactly. With the `last` block it becomes the entries, then the probabilities
// exp2(t - M) * (1.0f / S). Units: rows. `scored` is of the first row; its log probability is ((t - M) - log2(S)) *
// ln(2).
struct KeepBest {
    std::uint32_t count;
    RowBlock entries;
    bool last;
    F32Rows logits;  // [count][entries.count]; overwritten
    F32Rows sums;    // [count][2]: M and S
    F32Rows best;    // [count][2 * k], k at most the number of entries, and of those of the first block
    ScoredEntry* scored = nullptr;

    std::uint32_t units() const noexcept { return count; }
    std::uint64_t cost() const noexcept { return kCostOfValue * count * entries.count; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last_row) const noexcept;
};

// Copies of each of the first `capacity` rows of `best` [masks][2 * k] the `top` first entries, or all k where that is
// more, to `candidates` [capacity][top]. Returns how many of a row.
std::uint32_t copy_candidates(const F32Rows& best, std::uint32_t masks, Candidate* candidates, std::uint32_t capacity,
                              std::uint32_t top) noexcept;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
