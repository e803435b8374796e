// SPDX-License-Identifier: Apache-2.0
// Calls that score a text by a model of masked words: one pass for each of its tokens.
//
// Such an arena has for all of a call a `scoring` (Scoring), and the text as it was read: `scored_ids` and
// `scored_segments`; such an Encoder has kMask, the id of a mask.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "etch/calls/answer.hpp"
#include "etch/calls/input.hpp"
#include "etch/calls/steps.hpp"
#include "etch/calls/turn.hpp"
#include "etch/decode/score.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace calls {

// Reads a Text or TokenIds, which are framed as the template does it.
template <class Encoder, class Workspace, class Input>
Status read_scored(const Input& input, const Workspace& workspace, const typename Encoder::Arena& a) noexcept {
    const TokenSink sink{a.scored_ids, a.scored_segments, nullptr, Encoder::kLimits.max_tokens};
    Tokenized tokens;
    const Status status = take_some<Encoder>(input, workspace, a, sink, tokens);
    if (status != Status::ok) return status;
    const Around specials = around<Encoder>(input, workspace);
    const std::uint32_t count = specials.before + specials.behind;
    const std::uint32_t end = specials.before + (tokens.count > count ? tokens.count - count : 0);
    *a.scoring = {{-1, 0, 0}, {0, 0, tokens.count, tokens.truncated}, 0, specials.before, end, true};
    return Status::ok;
}

// The next pass: the text with one token masked. False behind the last one.
template <class Encoder>
bool mask_next(const typename Encoder::Arena& a) noexcept {
    Scoring& scoring = *a.scoring;
    if (scoring.position == scoring.end) return false;
    for (std::uint32_t i = 0; i < scoring.score.tokens; ++i) {
        a.ids[i] = a.scored_ids[i];
        a.segments[i] = a.scored_segments[i];
    }
    a.ids[scoring.position] = Encoder::kMask;
    a.texts[0] = whole_text(scoring.score.tokens);
    note_mask(a.texts[0], scoring.position, a.masks);
    scoring.entry.id = a.scored_ids[scoring.position];
    ++scoring.position;
    return true;
}

// Of a call that has its turn.
template <class Head, class Workspace, class Input>
[[gnu::always_inline]] inline Status score_in_turn(Workspace& workspace, const Input& input, Score& score) noexcept {
    using Encoder = typename Head::Encoder;
    const typename Encoder::Arena a = arena_of<Encoder>(workspace);
    Status status = read_scored<Encoder>(input, workspace, a);
    while (status == Status::ok && mask_next<Encoder>(a)) {
        typename Head::Result no_candidates{};
        status = compute<Head>(workspace, a, Batch{1, false}, &no_candidates);
        a.scoring->add();
    }
    if (status == Status::ok) score = a.scoring->score;
    return status;
}

template <class Head, class Workspace, class Input>
[[gnu::always_inline]] inline Status score(Workspace& workspace, const Input& input, Score& score) noexcept {
    const Turn turn{workspace};
    if (!turn) return turn.refusal();
    return score_in_turn<Head>(workspace, input, score);
}

// `scores` [count], one text after the other.
template <class Head, class Workspace>
[[gnu::always_inline]] inline Status score_batch(Workspace& workspace, const std::string_view* texts, std::size_t count,
                                                 Score* scores) noexcept {
    return answer_one_by_one<Head>(workspace, texts, count, scores, [&workspace](const Text& text, Score& score) {
        return score_in_turn<Head>(workspace, text, score);
    });
}

template <class Encoder, class Workspace, class Input>
[[gnu::always_inline]] inline Status begin_score(Workspace& workspace, const Input& input) noexcept {
    const Turn turn{workspace};
    if (!turn) return turn.refusal();
    const typename Encoder::Arena a = arena_of<Encoder>(workspace);
    const Status status = read_scored<Encoder>(input, workspace, a);
    if (status == Status::ok) workspace.cursor.kernels = &chosen_kernels(Encoder::kKernels, workspace.kernels);
    if (status == Status::ok) mask_next<Encoder>(a);
    return status;
}

// Whether what was begun is a score. Of a call that has its turn.
template <class Encoder, class Workspace>
bool is_scoring(Workspace& workspace) noexcept {
    return workspace.cursor.kernels != nullptr && arena_in<Encoder>(workspace).scoring->active;
}

// A pass's end ends the step.
template <class Head, class Workspace>
[[gnu::always_inline]] inline Status step_score(Workspace& workspace, std::uint64_t budget, Score& score) noexcept {
    using Encoder = typename Head::Encoder;
    const Turn turn{workspace};
    if (!turn) return turn.refusal();
    if (!is_scoring<Encoder>(workspace)) return Status::not_begun;
    const typename Encoder::Arena a = arena_in<Encoder>(workspace);
    const StepCursor begun = workspace.cursor;
    if (a.scoring->entry.id >= 0) {
        typename Head::Result no_candidates{};
        const Status status = step_in_turn<Head>(workspace, budget, no_candidates);
        if (status != Status::ok) return status;
        a.scoring->add();
        if (mask_next<Encoder>(a)) {
            workspace.cursor.kernels = begun.kernels;
            return Status::in_progress;
        }
    }
    workspace.cursor = {};
    score = a.scoring->score;
    return Status::ok;
}

// step() of what is no score.
template <class Head, class Workspace>
[[gnu::always_inline]] inline Status step_candidates(Workspace& workspace, std::uint64_t budget,
                                                     typename Head::Result& result) noexcept {
    const Turn turn{workspace};
    if (!turn) return turn.refusal();
    if (is_scoring<typename Head::Encoder>(workspace)) return Status::not_begun;
    return step_in_turn<Head>(workspace, budget, result);
}

}  // namespace calls
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
