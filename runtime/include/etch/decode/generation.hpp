// SPDX-License-Identifier: Apache-2.0
// A sequence that is written token by token: what ended it, and which token comes next.
#pragma once

#include <cstdint>

#include "etch/decode/restrictions.hpp"
#include "etch/decode/sampling.hpp"
#include "etch/decode/vocabulary.hpp"
#include "etch/ops/op.hpp"
#include "etch/ops/rows.hpp"
#include "etch/tokenizer/decoders.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// Why no more tokens were written.
enum class Ended : std::uint8_t {
    end,       // the model wrote an end token, the last of the ids
    length,    // there are as many as the call may write; where the model forces its end, the last one is that
    capacity,  // the caller has no room for more
};

inline constexpr std::uint32_t kMostEnds = 8;

// What a model writes, the same in every call.
struct TargetRules {
    std::uint32_t vocabulary;
    std::uint32_t max_tokens;   // at most, the end included; what is read before the first one does not count
    std::uint32_t begin_count;  // tokens that are read as if they had been written; 0: the text's own
    const std::int32_t* begin;  // [begin_count]
    const std::int32_t* ends;   // [end_count] tokens that end a sequence, 1 to kMostEnds
    std::uint32_t end_count;
    bool forced_end;            // the last that may be written is ends[0], whatever has the largest logit
    const std::int32_t* never;  // [never_count] tokens that are not written, ascending; no end is one of them
    std::uint32_t never_count;
    bool renormalize = false;  // probabilities are among the tokens that may be written, not of the whole vocabulary
    std::uint32_t least_tokens = 0;  // behind which an end may be written
    std::int32_t empty = -1;         // read in the place of a text without tokens; -1: there is no such text
    Sampling sampling = kGreedy;     // where a call asks for no other
    const Restrictions* restrictions = nullptr;  // null: there are none

    constexpr bool is_end(std::int32_t id) const noexcept {
        for (std::uint32_t i = 0; i < end_count; ++i)
            if (ends[i] == id) return true;
        return false;
    }
};

// A token that may come next.
struct NextToken {
    float score;  // its logit, or that of the sequence with it
    std::int32_t id;
};

// How far a sequence is.
struct Writing {
    std::uint32_t position;  // of the token that is read next
    std::uint32_t most;      // tokens that may be written, at most rules.max_tokens
    std::uint32_t count;     // tokens that were written
    std::uint32_t bytes;     // of the text that they are, where they became one
    float score;             // of what was written: the sum of its log-probabilities
    float added;             // to it by the token that was chosen last
    Ended ended;             // once there is no more to be written
    bool has_text;           // the rows of the text have been computed
    bool over;               // the result is told
    NextToken best;          // of the logits so far; a negative id: none may be written
    LogSum sum;              // of them
    DecoderState spelling;
    Sampling sampling;  // temperature 0: the best tokens are written
};

// The logits of tokens that may not be written behind `count` others become -2^100. One unit.
struct HideTokens {
    const TargetRules& rules;
    std::uint32_t count;
    float* logits;  // [rules.vocabulary]

    std::uint32_t units() const noexcept { return 1; }
    std::uint64_t cost() const noexcept { return kCostOfValue * (rules.never_count + rules.end_count); }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

// Takes the logits of the entries [entries.first, entries.first + entries.count) into account, from the first ones to
// the last in this order; `entries.first` is a multiple of kVocabularyBlock. With the last ones *token = the one with
// the largest logit that may be written, the lowest of equals, and writing.added = its logit - (M + log2(S) * ln(2)),
// M the largest logit and S the sum of powers (LogSum), of all tokens or of those that may be written. One unit.
struct BestToken {
    const TargetRules& rules;
    RowBlock entries;
    float* logits;     // [entries.count]; those that do not count may be overwritten
    Writing& writing;  // with `count` tokens before
    std::int32_t* token;

    std::uint32_t units() const noexcept { return 1; }
    std::uint64_t cost() const noexcept { return kCostOfValue * entries.count; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
