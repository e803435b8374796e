// SPDX-License-Identifier: Apache-2.0
#include "etch/decode/beams.hpp"

#include "largest_logits.hpp"
#include "log_sum.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

// A way to go on.
struct Continuation {
    float score;
    std::int32_t id;
    std::uint8_t beam;
};

// All that the rows have, in the order of their scores.
class Continuations {
  public:
    explicit Continuations(const Beams& beams) noexcept : beams_(beams) {}

    // False where there are no more.
    bool next(Continuation& candidate) noexcept {
        std::uint32_t best = beams_.active;
        for (std::uint32_t row = 0; row < beams_.active; ++row) {
            if (taken_[row] == beams_.candidates[row]) continue;
            if (best == beams_.active || of(row).score > of(best).score) best = row;
        }
        if (best == beams_.active) return false;
        candidate = {of(best).score, of(best).id, static_cast<std::uint8_t>(best)};
        ++taken_[best];
        return true;
    }

  private:
    const NextToken& of(std::uint32_t row) const noexcept { return beams_.next[row][taken_[row]]; }

    const Beams& beams_;
    std::uint32_t taken_[kMostBeams] = {};
};

// Among the best that have ended, behind those with the same score.
void keep(Beams& beams, const EndedSequence& sequence) noexcept {
    std::uint32_t place = beams.found;
    while (place > 0 && sequence.score > beams.ended[place - 1].score)
        --place;
    if (place == beams.count) return;
    if (beams.found < beams.count) ++beams.found;
    for (std::uint32_t i = beams.found - 1; i > place; --i)
        beams.ended[i] = beams.ended[i - 1];
    beams.ended[place] = sequence;
}

// How many tokens two beams have in common.
std::uint32_t common(const SearchRules& search, const BeamTokens& tokens, std::uint32_t length, std::uint8_t a,
                     std::uint8_t b) noexcept {
    for (; length > 0 && a != b; --length) {
        const std::uint8_t* const parents = tokens.parents + std::size_t{length - 1} * search.beams;
        a = parents[a];
        b = parents[b];
    }
    return length;
}

// Slots of the beams that `parents` are continued as, and the rows that have to be copied for that. The caches have
// `cached` rows of each.
void share_slots(const ContinueBeams& op, const std::uint8_t* parents, std::uint32_t cached) noexcept {
    Beams& b = op.beams;
    const std::uint32_t begin = cached - b.length;  // rows that all have in common
    std::uint32_t continued = 0;                    // of the beams that are there
    std::uint32_t first = 0;                        // of those that they become: takes the slot of its parent
    for (std::uint32_t i = 0; i < b.count; ++i) {
        if ((continued >> parents[i] & 1) == 0) first |= 1U << i;
        continued |= 1U << parents[i];
    }
    std::uint8_t slots[kMostBeams];
    std::uint8_t left = 0;
    b.copies = 0;
    for (std::uint32_t i = 0; i < b.count; ++i) {
        const std::uint8_t parent = parents[i];
        if ((first >> i & 1) != 0) {
            slots[i] = b.slots[parent];
            continue;
        }
        while ((continued >> left & 1) != 0)
            ++left;
        const bool has_rows = left < b.active;
        slots[i] = b.slots[left];
        b.copied[b.copies++] = {b.slots[parent] * op.room, slots[i] * op.room,
                                has_rows ? begin + common(op.search, op.tokens, b.length, left, parent) : 0, cached};
        ++left;
    }
    for (std::uint32_t i = 0; i < b.count; ++i)
        b.slots[i] = slots[i];
}

// The first `count` tokens of the sequence whose last one of these is `beam`'s.
void copy_tokens(const SearchRules& search, const BeamTokens& tokens, std::size_t beam, std::size_t count,
                 std::int32_t* ids) noexcept {
    while (count-- > 0) {
        const std::size_t at = count * search.beams + beam;
        ids[count] = tokens.ids[at];
        beam = tokens.parents[at];
    }
}

}  // namespace

void begin_beams(std::uint32_t count, std::uint32_t text_tokens, Beams& beams) noexcept {
    beams = {};
    beams.count = count;
    beams.active = 1;
    for (std::uint32_t i = 0; i < count; ++i)
        beams.slots[i] = static_cast<std::uint8_t>(i);
    beams.rows[0] = whole_text(1);
    beams.texts[0] = {0, 1, 0, text_tokens, 0};
}

void ids_of(const EndedSequence& sequence, const SearchRules& search, const BeamTokens& tokens,
            std::int32_t* ids) noexcept {
    ids[sequence.length - 1] = sequence.last;
    copy_tokens(search, tokens, sequence.beam, sequence.length - 1, ids);
}

void RestrictBeams::run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept {
    for (std::uint32_t row = first; row < last; ++row) {
        std::int32_t* const of_beam = history + std::size_t{row} * rules.max_tokens;
        copy_tokens(search, tokens, row, beams.length, of_beam);
        float* const of_row = logits.from(row).data;
        add_powers(context.kernels, {0, rules.vocabulary}, of_row, beams.sums[row]);
        const float shift = logarithm(beams.sums[row]);
        restrict_logits(*rules.restrictions, {begin, begin_count, of_beam, beams.length}, shift, of_row);
    }
}

void NextTokens::run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept {
    for (std::uint32_t row = first; row < last; ++row) {
        NextToken* const next = beams.next[row];
        if (rules.forced_end && beams.length + 1 == most) {
            next[0] = {beams.scores[row], rules.ends[0]};
            beams.candidates[row] = 1;
            continue;
        }
        float* const of_row = logits.from(row).data;
        std::uint32_t& count = beams.candidates[row];
        count = largest_logits(context.kernels, rules, beams.length, entries, of_row, beams.count + rules.end_count,
                               next, entries.first == 0 ? 0 : count);
        const bool has_sum = rules.restrictions != nullptr && !rules.renormalize;
        if (!has_sum) add_powers_of_some(context.kernels, rules, beams.length, entries, of_row, beams.sums[row]);
        if (entries.first + entries.count < rules.vocabulary) continue;
        const float sum = logarithm(beams.sums[row]);
        for (std::uint32_t i = 0; i < count; ++i)
            next[i].score = beams.scores[row] + (next[i].score - sum);
    }
}

void ContinueBeams::run(const OpContext&, std::uint32_t first_unit, std::uint32_t last_unit) const noexcept {
    if (first_unit == last_unit) return;
    Beams& b = beams;
    const std::uint32_t length = b.length + 1;
    const bool is_last = length == most;
    Continuation running[kMostBeams];
    std::uint32_t count = 0;
    Continuations candidates(b);
    Continuation one;
    for (std::uint32_t i = 0; i < (1 + rules.end_count) * b.count && candidates.next(one); ++i) {
        const bool is_end = rules.is_end(one.id);
        if (!is_end && !is_last) {
            if (count < b.count) running[count++] = one;
        } else if (i < b.count) {
            const bool by_itself = is_end && !(is_last && rules.forced_end);
            keep(b, {one.score / search.lengths[length - 1], length, one.id, one.beam,
                     by_itself ? Ended::end : Ended::length});
        }
    }
    const bool full = b.found == b.count;
    if (is_last || (full && search.stopping == Stopping::at_once)) {
        b.done = true;
        return;
    }
    const std::uint32_t longest = search.stopping == Stopping::longest ? most : length;
    if (full && running[0].score / search.lengths[longest - 1] <= b.ended[b.count - 1].score) {
        b.done = true;
        return;
    }
    std::uint8_t parents[kMostBeams];
    const std::size_t at = std::size_t{b.length} * search.beams;
    for (std::uint32_t i = 0; i < b.count; ++i) {
        parents[i] = running[i].beam;
        b.tokens[i] = running[i].id;
        b.scores[i] = running[i].score;
        tokens.ids[at + i] = running[i].id;
        tokens.parents[at + i] = running[i].beam;
    }
    share_slots(*this, parents, b.rows[0].keys);
    b.length = length;
    b.active = b.count;
    const std::uint32_t position = b.rows[0].keys;
    for (std::uint32_t i = 0; i < b.count; ++i)
        b.rows[i] = {i, 1, position, position + 1, b.slots[i] * room};
    b.texts[0].count = b.count;
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
