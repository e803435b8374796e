// SPDX-License-Identifier: Apache-2.0
// A call that chooses, in steps: each of them reads one pair, or does what its budget pays of a pair's pass, or makes
// probabilities of all scores.
//
// Such an arena has for all of a call a `choosing` (Choosing), of which Encoder::note() says that no choice is made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "etch/calls/choose.hpp"
#include "etch/calls/input.hpp"
#include "etch/calls/steps.hpp"
#include "etch/calls/turn.hpp"
#include "etch/text_list.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// How far it is, in the arena. What it reads and writes is the caller's.
struct Choosing {
    std::string_view prompt;
    std::string_view before;  // and behind a choice, where it makes a hypothesis
    std::string_view after;
    TextList choices;  // [count]
    float* scores;     // [count]
    std::size_t count;
    std::size_t next = 0;      // all before this one have a score
    std::uint64_t tokens = 0;  // of these
    std::uint32_t best = 0;    // of these
    bool truncated = false;    // one of these
    bool by_itself = false;    // scores are what is asked for, not their softmax
    bool is_read = false;      // the next one's tokens are in the arena
    bool active = true;

    void add(float score, std::uint32_t tokens_of_pair, bool cut) noexcept {
        scores[next] = score;
        if (score > scores[best]) best = static_cast<std::uint32_t>(next);
        tokens += tokens_of_pair;
        truncated = truncated || cut;
        is_read = false;
        ++next;
    }
};

namespace calls {

// Checks and keeps what is asked; nothing is read of the texts yet. Of a call that has its turn.
template <class Encoder, class Workspace>
Status begin_choices(Workspace& workspace, const Choosing& asked) noexcept {
    const typename Encoder::Arena a = arena_of<Encoder>(workspace);
    if (asked.count > UINT32_MAX) return Status::text_too_long;
    const auto overlap = [&](const Written& memory) {
        return asked.choices.has_one_in(memory, asked.count) ||
               memory.holds(asked.prompt.data(), asked.prompt.size()) ||
               overlaps(Pair{asked.before, asked.after}, memory);
    };
    if (in_memory_of(workspace, overlap) || overlap({asked.scores, asked.count * sizeof(float)}))
        return Status::text_overlaps;
    *a.choosing = asked;
    workspace.cursor.kernels = &chosen_kernels(Encoder::kKernels, workspace.kernels);
    return Status::ok;
}

template <class Encoder, class Workspace>
[[gnu::always_inline]] inline Status begin_choose(Workspace& workspace, std::string_view prompt,
                                                  const TextList& choices, std::size_t count,
                                                  float* probabilities) noexcept {
    const Turn turn{workspace};
    if (!turn) return turn.refusal();
    return begin_choices<Encoder>(workspace, Choosing{prompt, {}, {}, choices, probabilities, count});
}

// Whether what was begun is a choice among several. Of a call that has its turn.
template <class Encoder, class Workspace>
bool is_choosing(Workspace& workspace) noexcept {
    return workspace.cursor.kernels != nullptr && arena_in<Encoder>(workspace).choosing->active;
}

// Reads what input(choosing) says, the next choice with all that goes with it.
template <class Encoder, class Workspace, class Input>
Status read_choice(Workspace& workspace, const typename Encoder::Arena& a, const Input& input) noexcept {
    Tokenized tokens;
    const Status status = take_some<Encoder>(input(*a.choosing), workspace, a, sink_of<Encoder>(a), tokens);
    if (status != Status::ok) {
        workspace.cursor = {};
        return status;
    }
    a.texts[0] = whole_text(tokens.count);
    workspace.cursor.truncated = tokens.truncated;
    a.choosing->is_read = true;
    return Status::in_progress;
}

// `choice` has best, tokens and truncated; value(choosing, result) is the score of a result. Of a call that has its
// turn.
template <class Head, class Workspace, class Choice, class Input, class Value>
[[gnu::always_inline]] inline Status step_choices(Workspace& workspace, std::uint64_t budget, Choice& choice,
                                                  const Input& input, const Value& value) noexcept {
    using Encoder = typename Head::Encoder;
    if (!is_choosing<Encoder>(workspace)) return Status::not_begun;
    const typename Encoder::Arena a = arena_in<Encoder>(workspace);
    Choosing& choosing = *a.choosing;
    const KernelSet& kernels = *workspace.cursor.kernels;
    if (choosing.next == choosing.count) {
        workspace.cursor = {};
        if (!choosing.by_itself && choosing.count != 0)
            make_probabilities(kernels, choosing.scores, static_cast<std::uint32_t>(choosing.count));
        choice = {choosing.best, choosing.tokens, choosing.truncated};
        return Status::ok;
    }
    if (!choosing.is_read) return read_choice<Encoder>(workspace, a, input);
    typename Head::Result result{};
    const Status status = step_in_turn<Head>(workspace, budget, result);
    if (status != Status::ok) return status;
    choosing.add(value(choosing, result), result.tokens, result.truncated);
    workspace.cursor.kernels = &kernels;
    return Status::in_progress;
}

template <class Head, class Workspace, class Choice>
[[gnu::always_inline]] inline Status step_choose(Workspace& workspace, std::uint64_t budget, Choice& choice) noexcept {
    const Turn turn{workspace};
    if (!turn) return turn.refusal();
    return step_choices<Head>(
        workspace, budget, choice,
        [](const Choosing& choosing) {
            return Pair{choosing.prompt, choosing.choices[choosing.next]};
        },
        [](const Choosing&, const typename Head::Result& result) { return result.score[0]; });
}

// step() of one pair.
template <class Head, class Workspace>
[[gnu::always_inline]] inline Status step_pair(Workspace& workspace, std::uint64_t budget,
                                               typename Head::Result& result) noexcept {
    const Turn turn{workspace};
    if (!turn) return turn.refusal();
    if (is_choosing<typename Head::Encoder>(workspace)) return Status::not_begun;
    return step_in_turn<Head>(workspace, budget, result);
}

}  // namespace calls
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
