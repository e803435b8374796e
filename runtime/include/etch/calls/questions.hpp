// SPDX-License-Identifier: Apache-2.0
// Calls of a model that answers questions: one pass for each window of the context.
//
// Such an arena has, for all of a call, a `question` (QuestionMemory) and the tokenizer's scratch; such a Result has
// `options`, `answers` and `capacity` that say what is wanted, and `count` and `windows`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "etch/calls/answer.hpp"
#include "etch/calls/input.hpp"
#include "etch/calls/steps.hpp"
#include "etch/calls/turn.hpp"
#include "etch/decode/answers.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace calls {

// What a model is asked, in the arena: from here on the texts are read as they are needed.
template <class Encoder, class Workspace>
Status ask(const Pair& input, const Workspace& workspace, const typename Encoder::Arena& a) noexcept {
    if (!Encoder::kQuestions) return Status::pair_not_supported;
    if (lies_in(input, workspace)) return Status::text_overlaps;
    if (input.first.size() > kLongestText || input.second.size() > kLongestText) return Status::text_too_long;
    QuestionState& state = a.question->begin();
    state.question = input.first;
    state.context = input.second.data() == nullptr ? std::string_view("") : input.second;
    state.of_texts = true;
    return Status::ok;
}

// The first window or the next one: its tokens, in the arena. There are none in the first one of texts without any.
template <class Head, class Workspace>
bool read_window(const Workspace& workspace, const typename Head::Encoder::Arena& a,
                 const typename Head::Result& result) noexcept {
    using Encoder = typename Head::Encoder;
    QuestionState& state = a.question->state;
    if (!state.of_texts) return false;
    const WindowSink sink{a.ids, a.segments, Encoder::kLimits.max_tokens, a.tokenizer};
    return next_window(Encoder::kTokenizer, workspace.special_tokens, result.options, sink, state, a.texts[0]);
}

// Behind the last window.
template <class Head>
void finish_question(const typename Head::Encoder::Arena& a, typename Head::Result& result) noexcept {
    QuestionState& state = a.question->state;
    result.count = finish_answers(result.options, result.answers, result.capacity, state);
    result.windows = state.windows;
    result.tokens = state.tokens;
    if (state.of_texts) result.truncated = state.cut;
}

// Of a call that has its turn.
template <class Head, class Workspace>
[[gnu::always_inline]] inline Status answer_question_in_turn(Workspace& workspace, const Pair& input,
                                                             typename Head::Result& result) noexcept {
    using Encoder = typename Head::Encoder;
    const typename Encoder::Arena a = arena_of<Encoder>(workspace);
    Status status = ask<Encoder>(input, workspace, a);
    while (status == Status::ok && read_window<Head>(workspace, a, result))
        status = a.texts[0].count == 0 ? Status::no_tokens : compute<Head>(workspace, a, Batch{1, false}, &result);
    if (status == Status::ok) finish_question<Head>(a, result);
    return status;
}

template <class Head, class Workspace>
[[gnu::always_inline]] inline Status answer_question(Workspace& workspace, const Pair& input,
                                                     typename Head::Result& result) noexcept {
    const Turn turn{workspace};
    if (!turn) return turn.refusal();
    return answer_question_in_turn<Head>(workspace, input, result);
}

// `questions` [count] have members question and context.
template <class Head, class Workspace, class Question>
[[gnu::always_inline]] inline Status answer_questions(Workspace& workspace, const Question* questions,
                                                      std::size_t count, typename Head::Result* results) noexcept {
    using Encoder = typename Head::Encoder;
    const Turn turn{workspace, results};
    if (!turn) return turn.refusal();
    arena_of<Encoder>(workspace);
    const auto overlap = [&](const Written& memory) {
        bool found = memory.holds(questions, count * sizeof *questions);
        for (std::size_t i = 0; i < count; ++i)
            found = found || overlaps(Pair{questions[i].question, questions[i].context}, memory);
        return found;
    };
    if (in_memory_of(workspace, overlap) || overlap({results, count * sizeof *results})) return Status::text_overlaps;
    Status status = Status::ok;
    for (std::size_t i = 0; status == Status::ok && i < count; ++i) {
        status =
            answer_question_in_turn<Head>(workspace, Pair{questions[i].question, questions[i].context}, results[i]);
        forget_views<Head>(results[i], 0);
    }
    return status;
}

// One text without a question, or token ids: one window.
template <class Head, class Workspace, class Input>
[[gnu::always_inline]] inline Status answer_window(Workspace& workspace, const Input& input,
                                                   typename Head::Result& result) noexcept {
    const Turn turn{workspace, &result};
    if (!turn) return turn.refusal();
    const Status status = answer_in_turn<Head>(workspace, input, result);
    if (status == Status::ok) finish_question<Head>(arena_in<typename Head::Encoder>(workspace), result);
    return status;
}

template <class Encoder, class Workspace>
[[gnu::always_inline]] inline Status begin_question(Workspace& workspace, const Pair& input) noexcept {
    const Turn turn{workspace};
    if (!turn) return turn.refusal();
    const typename Encoder::Arena a = arena_of<Encoder>(workspace);
    const Status status = ask<Encoder>(input, workspace, a);
    if (status == Status::ok) workspace.cursor.kernels = &chosen_kernels(Encoder::kKernels, workspace.kernels);
    return status;
}

// Of the other heads of such a model: a question that was begun is none of theirs, and has ended.
template <class Head, class Workspace>
[[gnu::always_inline]] inline Status step_no_question(Workspace& workspace, std::uint64_t budget,
                                                      typename Head::Result& result) noexcept {
    const Turn turn{workspace};
    if (!turn) return turn.refusal();
    const bool begun = workspace.cursor.kernels != nullptr;
    if (begun && arena_in<typename Head::Encoder>(workspace).question->state.of_texts) workspace.cursor = {};
    return step_in_turn<Head>(workspace, budget, result);
}

// A window's end ends the step.
template <class Head, class Workspace>
[[gnu::always_inline]] inline Status step_question(Workspace& workspace, std::uint64_t budget,
                                                   typename Head::Result& result) noexcept {
    const Turn turn{workspace};
    if (!turn) return turn.refusal();
    const typename Head::Encoder::Arena a = arena_in<typename Head::Encoder>(workspace);
    const StepCursor begun = workspace.cursor;
    if (begun.kernels == nullptr) return Status::not_begun;
    if (a.question->state.of_texts && a.question->state.windows == 0) {
        read_window<Head>(workspace, a, result);  // there is always a first one
        if (a.texts[0].count == 0) {
            workspace.cursor = {};
            return Status::no_tokens;
        }
    }
    const Status status = step_in_turn<Head>(workspace, budget, result);
    if (status != Status::ok) return status;
    if (read_window<Head>(workspace, a, result)) {
        workspace.cursor.kernels = begun.kernels;
        return Status::in_progress;
    }
    finish_question<Head>(a, result);
    return Status::ok;
}

}  // namespace calls
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
