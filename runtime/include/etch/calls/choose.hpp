// SPDX-License-Identifier: Apache-2.0
// A call that chooses: one pass for each choice, however many there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "etch/calls/answer.hpp"
#include "etch/calls/input.hpp"
#include "etch/calls/turn.hpp"
#include "etch/ops/row_ops.hpp"
#include "etch/text_list.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace calls {

// Scores [count] -> probabilities, in place: their softmax.
inline void make_probabilities(const KernelSet& kernels, float* scores, std::uint32_t count) noexcept {
    const F32Rows rows{scores, count};
    InlineRunner{OpContext{kernels, nullptr}}(Softmax{1, rows, rows});
}

// The same of a call that has its turn.
template <class Encoder, class Workspace>
Status probabilities_in_turn(Workspace& workspace, float* scores, std::size_t count) noexcept {
    if (count > UINT32_MAX) return Status::text_too_long;
    if (count == 0) return Status::ok;
    make_probabilities(chosen_kernels(Encoder::kKernels, workspace.kernels), scores, static_cast<std::uint32_t>(count));
    return Status::ok;
}

template <class Encoder, class Workspace>
Status probabilities_of(Workspace& workspace, float* scores, std::size_t count) noexcept {
    const Turn turn{workspace};
    if (!turn) return turn.refusal();
    return probabilities_in_turn<Encoder>(workspace, scores, count);
}

// The score of each choice, value(result) of the result of score(i, result), and the best. What is read may lie neither
// in the workspace's memory nor where the scores [count] go.
template <class Result, class Workspace, class Choice, class Score, class Value>
[[gnu::always_inline]] inline Status score_choices(const Score& score, const Value& value, const Workspace& workspace,
                                                   std::string_view prompt, const TextList& choices, std::size_t count,
                                                   float* scores, Choice& choice) noexcept {
    if (count > UINT32_MAX) return Status::text_too_long;
    const auto overlap = [&](const Written& memory) {
        return choices.has_one_in(memory, count) || memory.holds(prompt.data(), prompt.size());
    };
    if (in_memory_of(workspace, overlap) || overlap({scores, count * sizeof(float)})) return Status::text_overlaps;
    choice = {};
    for (std::size_t i = 0; i < count; ++i) {
        Result result{};
        const Status status = score(i, result);
        if (status != Status::ok) return status;
        scores[i] = value(result);
        if (scores[i] > scores[choice.best]) choice.best = static_cast<std::uint32_t>(i);
        choice.tokens += result.tokens;
        choice.truncated = choice.truncated || result.truncated;
    }
    return Status::ok;
}

// `probabilities` [count]. A Result has a member score, of one float; a Choice has best, tokens and truncated.
template <class Head, class Workspace, class Choice>
[[gnu::always_inline]] inline Status choose(Workspace& workspace, std::string_view prompt, const TextList& choices,
                                            std::size_t count, float* probabilities, Choice& choice) noexcept {
    using Encoder = typename Head::Encoder;
    const Turn turn{workspace};
    if (!turn) return turn.refusal();
    arena_of<Encoder>(workspace);
    const Status status = score_choices<typename Head::Result>(
        [&](std::size_t i, typename Head::Result& result) {
            return answer_in_turn<Head>(workspace, Pair{prompt, choices[i]}, result);
        },
        [](const typename Head::Result& result) { return result.score[0]; }, workspace, prompt, choices, count,
        probabilities, choice);
    return status == Status::ok ? probabilities_in_turn<Encoder>(workspace, probabilities, count) : status;
}

}  // namespace calls
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
