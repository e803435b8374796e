// SPDX-License-Identifier: Apache-2.0
// A call in steps: begin() tokenizes, each step() does what its budget pays of the rest.
#pragma once

#include <cstdint>

#include "etch/calls/answer.hpp"
#include "etch/calls/input.hpp"
#include "etch/calls/turn.hpp"
#include "etch/kernels.hpp"
#include "etch/ops/stepping.hpp"
#include "etch/ops/texts.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace calls {

// Of a Text, Pair or TokenIds.
template <class Encoder, class Workspace, class Input>
[[gnu::always_inline]] inline Status begin(Workspace& workspace, const Input& input) noexcept {
    const Turn turn{workspace};
    if (!turn) return turn.refusal();
    const typename Encoder::Arena a = arena_of<Encoder>(workspace);
    Tokenized tokens;
    const Status status = take_some<Encoder>(input, workspace, a, sink_of<Encoder>(a), tokens);
    if (status != Status::ok) return status;
    a.texts[0] = whole_text(tokens.count);
    note<Encoder>(input, a.texts[0], a, 0);
    workspace.cursor.kernels = &chosen_kernels(Encoder::kKernels, workspace.kernels);
    workspace.cursor.truncated = tokens.truncated;
    return Status::ok;
}

// Of a call that has its turn.
template <class Head, class Workspace>
[[gnu::always_inline]] inline Status step_in_turn(Workspace& workspace, std::uint64_t budget,
                                                  typename Head::Result& result) noexcept {
    using Encoder = typename Head::Encoder;
    StepCursor& cursor = workspace.cursor;
    if (cursor.kernels == nullptr) return Status::not_begun;
    const typename Encoder::Arena a = arena_in<Encoder>(workspace);
    const OpContext context{*cursor.kernels, a.scratch};
    const SteppingRunner run{context, cursor, budget};
    const Texts texts{a.texts, 1};
    Encoder::forward(run, texts, a);
    Head::compute(run, texts, 0, a);
    if (!run.finished()) return Status::in_progress;
    finish<Head>(InlineRunner{context}, a.texts[0], a, result, 0);
    describe_text<Head>(result, a.texts[0].count, cursor.truncated, 0);
    cursor = {};
    return Status::ok;
}

template <class Head, class Workspace>
[[gnu::always_inline]] inline Status step(Workspace& workspace, std::uint64_t budget,
                                          typename Head::Result& result) noexcept {
    const Turn turn{workspace};
    if (!turn) return turn.refusal();
    return step_in_turn<Head>(workspace, budget, result);
}

}  // namespace calls
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
