// SPDX-License-Identifier: Apache-2.0
// Calls of a generative model in steps, or token by token: generation.hpp has what they do, and what a Generator is.
#pragma once

#include <cstdint>

#include "etch/calls/generation.hpp"
#include "etch/calls/input.hpp"
#include "etch/calls/turn.hpp"
#include "etch/decode/generation.hpp"
#include "etch/kernels.hpp"
#include "etch/ops/op.hpp"
#include "etch/ops/stepping.hpp"
#include "etch/ops/texts.hpp"
#include "etch/step_cursor.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace calls {

// Begins one Text or TokenIds. Each step goes through the ops of the text, or of as many passes as it can afford.
template <class Generator, class Workspace, class Input>
[[gnu::always_inline]] inline Status begin_write(Workspace& workspace, const Input& input) noexcept {
    using Encoder = typename Generator::Encoder;
    const Turn turn{workspace};
    if (!turn) return turn.refusal();
    const typename Encoder::Arena a = arena_of<Encoder>(workspace);
    Tokenized tokens;
    const Status status = begin_writing<Generator>(workspace, input, a, Encoder::kLimits.max_tokens, 0, tokens);
    if (status != Status::ok) return status;
    workspace.cursor.kernels = &chosen_kernels(Encoder::kKernels, workspace.kernels);
    workspace.cursor.truncated = tokens.truncated;
    return Status::ok;
}

// A list of ops of such a call: that of the text, then one for each pass.
template <class Generator, class Runner>
void go_on(const Runner& run, const typename Generator::Encoder::Arena& a) noexcept {
    if (a.writing->has_text) {
        write_some<Generator>(run, a);
    } else {
        Generator::Encoder::forward(run, Texts{a.texts, 1}, a);
    }
}

// Behind it: whether it was the last one.
template <class Generator, class Target>
bool ends_list(const typename Generator::Encoder::Arena& a, const Target& target) noexcept {
    if (a.writing->has_text) return ends_writing<Generator>(a, target);
    a.writing->has_text = true;
    return false;
}

template <class Generator, class Workspace, class Target>
void end_call(Workspace& workspace, const typename Generator::Encoder::Arena& a, const Target& target,
              typename Generator::Result& result) noexcept {
    const bool truncated = workspace.cursor.truncated;
    finish_writing<Generator>(a, target, truncated, result);
    workspace.cursor = {};
    note_found<Generator>(workspace, a, truncated);
}

// Whether a call in steps is under way, of one text or of a group of a batch; one of the other kind has ended.
inline bool goes_on(StepCursor& cursor, bool batch) noexcept {
    if (cursor.kernels != nullptr && (cursor.group != 0) != batch) cursor = {};
    return cursor.kernels != nullptr;
}

// One text, in a workspace whose turn it is and whose call goes on.
template <class Generator, class Workspace, class Target>
[[gnu::always_inline]] inline Status step_alone(Workspace& workspace, std::uint64_t budget, const Target& target,
                                                typename Generator::Result& result) noexcept {
    using Encoder = typename Generator::Encoder;
    StepCursor& cursor = workspace.cursor;
    const typename Encoder::Arena a = arena_in<Encoder>(workspace);
    const SteppingRunner run{OpContext{*cursor.kernels, a.scratch}, cursor, budget};
    bool done = has_no_room(*a.writing, target);
    while (!done) {
        go_on<Generator>(run, a);
        if (!run.finished()) {
            tell<Generator>(*a.writing, result);
            return Status::in_progress;
        }
        run.begin_list();
        done = ends_list<Generator>(a, target);
    }
    end_call<Generator>(workspace, a, target, result);
    return Status::ok;
}

template <class Generator, class Workspace, class Target>
[[gnu::always_inline]] inline Status step_write(Workspace& workspace, std::uint64_t budget, const Target& target,
                                                typename Generator::Result& result) noexcept {
    const Turn turn{workspace};
    if (!turn) return turn.refusal();
    if (!goes_on(workspace.cursor, false)) return Status::not_begun;
    if (is_in(target, workspace)) return Status::text_overlaps;
    return step_alone<Generator>(workspace, budget, target, result);
}

// The same up to the next token, with the caller's threads but for the rest of a list that a step has begun.
template <class Generator, class Workspace, class Target>
[[gnu::always_inline]] inline Status next_write(Workspace& workspace, const Target& target,
                                                typename Generator::Result& result) noexcept {
    using Encoder = typename Generator::Encoder;
    const Turn turn{workspace};
    if (!turn) return turn.refusal();
    StepCursor& cursor = workspace.cursor;
    if (!goes_on(cursor, false)) return Status::not_begun;
    if (is_in(target, workspace)) return Status::text_overlaps;
    const typename Encoder::Arena a = arena_in<Encoder>(workspace);
    const OpContext context{*cursor.kernels, a.scratch};
    const SharingRunner run{context, workspace.executor, Encoder::kScratchBytes};
    const std::uint32_t count = a.writing->count;
    bool done = has_no_room(*a.writing, target);
    while (!done) {
        if (cursor.op != 0 || cursor.unit != 0) {
            const SteppingRunner rest{context, cursor, ~std::uint64_t{0}};
            go_on<Generator>(rest, a);
            rest.begin_list();
        } else {
            go_on<Generator>(run, a);
            if (run.status() != Status::ok) {
                cursor = {};
                return run.status();
            }
        }
        done = ends_list<Generator>(a, target);
        if (!done && a.writing->count != count) {
            tell<Generator>(*a.writing, result);
            return Status::in_progress;
        }
    }
    end_call<Generator>(workspace, a, target, result);
    return Status::ok;
}

}  // namespace calls
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
