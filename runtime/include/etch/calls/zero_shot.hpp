// SPDX-License-Identifier: Apache-2.0
// A call that brings its labels: one pass for each, with the hypothesis that the label makes.
//
// Such an arena has a `hypothesis` of Encoder::kHypothesisBytes; such a Result has `logits` and `probability`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "etch/calls/answer.hpp"
#include "etch/calls/choose.hpp"
#include "etch/calls/choose_steps.hpp"
#include "etch/calls/input.hpp"
#include "etch/calls/turn.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace calls {

// A text, and the hypothesis that is its label between two other texts.
struct Labelled {
    std::string_view text;
    std::string_view before;
    std::string_view label;
    std::string_view after;
};

inline bool overlaps(const Labelled& input, const Written& memory) noexcept {
    return overlaps(Pair{input.text, input.label}, memory) || overlaps(Pair{input.before, input.after}, memory);
}

template <class Encoder, class Workspace>
Status take(const Labelled& input, const Workspace& workspace, const typename Encoder::Arena& a, const TokenSink& sink,
            Tokenized& tokens) noexcept {
    if (lies_in(input, workspace)) return Status::text_overlaps;
    std::size_t size = 0;
    for (const std::string_view part : {input.before, input.label, input.after}) {
        if (part.size() > Encoder::kHypothesisBytes - size) return Status::hypothesis_too_long;
        if (!part.empty()) std::memcpy(a.hypothesis + size, part.data(), part.size());
        size += part.size();
    }
    return tokenize_pair(Encoder::kTokenizer, input.text, {a.hypothesis, size}, workspace.special_tokens, a.tokenizer,
                         sink, tokens);
}

// The score of each label, by score(i, result): its probability where it is judged by itself, else the logit that its
// hypothesis follows, of which the caller makes a softmax. `texts` are what the hypotheses have beside the labels.
template <class Result, std::uint32_t kEntailment, class Workspace, class Choice, class Score>
[[gnu::always_inline]] inline Status score_labels(const Score& score, bool by_itself, const Workspace& workspace,
                                                  std::string_view text, const Pair& texts, const TextList& labels,
                                                  std::size_t count, float* scores, Choice& choice) noexcept {
    if (count == 0) return Status::no_labels;
    if (overlaps(texts, {scores, count * sizeof(float)})) return Status::text_overlaps;
    const auto value = [by_itself](const Result& result) {
        return by_itself ? result.probability : result.logits[kEntailment];
    };
    return score_choices<Result>(score, value, workspace, text, labels, count, scores, choice);
}

// `scores` [count]: of one label, and of several that hold independently of each other, each probability by itself.
template <class Head, std::uint32_t kEntailment, class Workspace, class Hypothesis, class Choice>
[[gnu::always_inline]] inline Status zero_shot(Workspace& workspace, std::string_view text, const TextList& labels,
                                               std::size_t count, const Hypothesis& hypothesis, bool multi_label,
                                               float* scores, Choice& choice) noexcept {
    using Encoder = typename Head::Encoder;
    const Turn turn{workspace};
    if (!turn) return turn.refusal();
    arena_of<Encoder>(workspace);
    const bool by_itself = multi_label || count == 1;
    const Status status = score_labels<typename Head::Result, kEntailment>(
        [&](std::size_t i, typename Head::Result& result) {
            return answer_in_turn<Head>(workspace, Labelled{text, hypothesis.before, labels[i], hypothesis.after},
                                        result);
        },
        by_itself, workspace, text, Pair{hypothesis.before, hypothesis.after}, labels, count, scores, choice);
    return status == Status::ok && !by_itself ? probabilities_in_turn<Encoder>(workspace, scores, count) : status;
}

template <class Encoder, class Workspace, class Hypothesis>
[[gnu::always_inline]] inline Status begin_zero_shot(Workspace& workspace, std::string_view text,
                                                     const TextList& labels, std::size_t count,
                                                     const Hypothesis& hypothesis, bool multi_label,
                                                     float* scores) noexcept {
    const Turn turn{workspace};
    if (!turn) return turn.refusal();
    if (count == 0) {
        workspace.cursor = {};
        return Status::no_labels;
    }
    Choosing asked{text, hypothesis.before, hypothesis.after, labels, scores, count};
    asked.by_itself = multi_label || count == 1;
    return begin_choices<Encoder>(workspace, asked);
}

template <class Head, std::uint32_t kEntailment, class Workspace, class Choice>
[[gnu::always_inline]] inline Status step_zero_shot(Workspace& workspace, std::uint64_t budget,
                                                    Choice& choice) noexcept {
    const Turn turn{workspace};
    if (!turn) return turn.refusal();
    return step_choices<Head>(
        workspace, budget, choice,
        [](const Choosing& choosing) {
            return Labelled{choosing.prompt, choosing.before, choosing.choices[choosing.next], choosing.after};
        },
        [](const Choosing& choosing, const typename Head::Result& result) {
            return choosing.by_itself ? result.probability : result.logits[kEntailment];
        });
}

}  // namespace calls
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
