// SPDX-License-Identifier: Apache-2.0
// Beam search, as `generate` of transformers 5 has it: some sequences are continued at the same time, the best ones of
// those that have ended are kept. Scores are sums of log-probabilities in the order of the tokens, in float32; that of
// a sequence which has ended is divided by length ^ penalty.
//
// Each beam has a slot in the caches of keys and values. Of a beam that is continued once the slot is; where it is
// continued more often, a beam that is not continued leaves its slot, and only the rows in which the two differ are
// copied: what they have in common begins where both come from the same token, which is looked up, not compared.
#pragma once

#include <cstdint>

#include "etch/decode/generation.hpp"
#include "etch/ops/cache_copies.hpp"
#include "etch/ops/op.hpp"
#include "etch/ops/texts.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

inline constexpr std::uint32_t kMostBeams = 8;
inline constexpr std::uint32_t kMostCandidates = kMostBeams + kMostEnds;  // of a row

// When a search is over, beside where its sequences have no room for more. In each case there are as many that have
// ended as there are beams.
enum class Stopping : std::uint8_t {
    at_once,   // early_stopping true
    estimate,  // false: the best beam would not be among them if it ended now; "never" where length is no merit
    longest,   // "never" with a positive penalty: nor if it were as long as may be, with no more to lose
};

// How a model searches, the same in every call.
struct SearchRules {
    std::uint32_t beams;  // most, from 2 to kMostBeams
    Stopping stopping;
    const float* lengths;  // [max_tokens]: of a sequence of n tokens n ^ penalty at n - 1
};

// A sequence that has ended: the token `last` behind those that a beam had when `length` - 1 were written.
struct EndedSequence {
    float score;
    std::uint32_t length;
    std::int32_t last;
    std::uint8_t beam;
    Ended ended;
};

// A search. `rows` are those of the next pass, `texts` what they attend to beside themselves: one text, or of texts
// that are written together that of each row.
struct Beams {
    std::uint32_t count;   // of beams, from 2 on
    std::uint32_t active;  // rows of the next pass: 1 until the first token is written
    std::uint32_t length;  // tokens that every beam has
    std::uint32_t copies;  // before the next pass
    std::uint32_t found;   // sequences that have ended, the best first
    bool done;
    std::uint8_t slots[kMostBeams];
    std::int32_t tokens[kMostBeams];  // what the next pass reads
    float scores[kMostBeams];
    TextRows rows[kMostBeams];
    TextRows texts[kMostBeams];
    CacheCopy copied[kMostBeams];
    EndedSequence ended[kMostBeams];
    std::uint32_t candidates[kMostBeams];  // how many there are of a row
    LogSum sums[kMostBeams];               // of a row, before restrictions change its logits
    NextToken next[kMostBeams][kMostCandidates];
};

// The tokens of all beams: of the n-th one of beam b the id at n * beams + b, and the beam it was written behind.
struct BeamTokens {
    std::int32_t* ids;      // [max_tokens][beams]
    std::uint8_t* parents;  // [max_tokens][beams]
};

// No tokens: one row, which reads what a target begins with.
void begin_beams(std::uint32_t count, std::uint32_t text_tokens, Beams& beams) noexcept;

// The ids of a sequence that has ended, to ids [sequence.length].
void ids_of(const EndedSequence& sequence, const SearchRules& search, const BeamTokens& tokens,
            std::int32_t* ids) noexcept;

// Restricts the logits of each row, as far as their log-probabilities say. Units: rows.
struct RestrictBeams {
    const TargetRules& rules;
    const SearchRules& search;
    BeamTokens tokens;
    const std::int32_t* begin;  // [begin_count] what a target begins with
    std::uint32_t begin_count;
    std::int32_t* history;  // [rows][rules.max_tokens]; overwritten
    F32Rows logits;         // [rows][rules.vocabulary]
    Beams& beams;

    std::uint32_t units() const noexcept { return beams.active; }
    std::uint64_t cost() const noexcept {
        const std::uint64_t of_row = kCostOfValue * (rules.vocabulary + beams.length);
        return beams.active * (of_row + cost_of(*rules.restrictions, begin_count + beams.length));
    }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

// Of each row of logits as many tokens as there are beams and ends, so that there is one that is no end for each beam:
// those with the largest logits, the largest first, of equal ones the lower id; with the last entries the scores of the
// sequences with them, the beam's plus a log-probability as BestToken has it, which also says in what order entries
// come. Units: rows.
struct NextTokens {
    const TargetRules& rules;
    std::uint32_t most;  // tokens that may be written
    RowBlock entries;
    F32Rows logits;  // [beams.active][entries.count]; those that do not count may be overwritten
    Beams& beams;

    std::uint32_t units() const noexcept { return beams.active; }
    std::uint64_t cost() const noexcept { return kCostOfValue * beams.active * entries.count; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

// Of all these the best ones: those with the largest scores, of equal ones the lower beam's. What ends among as many as
// there are beams may be kept; the best of those that do not are what the beams become. `room` is how many rows each
// slot has in the caches. One unit.
struct ContinueBeams {
    const TargetRules& rules;
    const SearchRules& search;
    std::uint32_t most;  // as NextTokens has it
    std::uint32_t room;
    Beams& beams;
    BeamTokens tokens;

    std::uint32_t units() const noexcept { return 1; }
    std::uint64_t cost() const noexcept { return kCostOfValue * (beams.count * kMostCandidates + beams.length); }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
