// SPDX-License-Identifier: Apache-2.0
// Calls of a model that writes: the text once, then a pass for each token that is read.
//
// A Generator has
//     Encoder, Result                          as a Head has them (calls.hpp); Result has count, ended, tokens,
//     truncated TargetRules kRules                       of what it writes read(run, text, steps, token, arena)     the
//     pass of one token at the position of `steps`, keys and values appended;
//                                              `text` are the rows that forward() made
//     choose(run, arena, token)                after it, where a token is to be written: the one with the largest logit
// and such an arena has, for all of a call, texts and a `writing`, ids where the target begins with the text, and for
// all passes `written` [kRules.max_tokens].
#pragma once

#include <cstdint>

#include "etch/calls/input.hpp"
#include "etch/decode/generation.hpp"
#include "etch/kernels.hpp"
#include "etch/ops/op.hpp"
#include "etch/ops/stepping.hpp"
#include "etch/ops/texts.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace calls {

// Tokens in the arena, nothing written yet.
template <class Generator, class Workspace, class Input>
Status begin_writing(Workspace& workspace, const Input& input, const typename Generator::Encoder::Arena& a,
                     Tokenized& tokens) noexcept {
    using Encoder = typename Generator::Encoder;
    const Status status = take<Encoder>(input, workspace, a, sink_of<Encoder>(a), tokens);
    if (status != Status::ok) return status;
    a.texts[0] = whole_text(tokens.count);
    *a.writing = {};
    return Status::ok;
}

// Tokens that are read before the first one is written.
template <class Generator>
std::uint32_t read_before(const typename Generator::Encoder::Arena& a) noexcept {
    return Generator::kRules.begin_count == 0 ? a.texts[0].count : Generator::kRules.begin_count;
}

// The next pass: reads a token, and writes the one behind it where all that comes before has been read.
template <class Generator, class Runner>
void write_some(const Runner& run, const typename Generator::Encoder::Arena& a) noexcept {
    constexpr const TargetRules& rules = Generator::kRules;
    const Texts text{a.texts, 1};
    const std::uint32_t position = a.writing->position;
    const std::uint32_t first = read_before<Generator>(a);
    const TextRows row{0, 1, position, position + 1, 0};
    const std::int32_t* const before = rules.begin_count == 0 ? a.ids : rules.begin;
    const std::int32_t* const token = position < first ? before + position : a.written + (position - first);
    Generator::read(run, text, Texts{&row, 1}, token, a);
    if (position + 1 >= first) Generator::choose(run, a, a.written + a.writing->count);
}

// Behind a pass: takes note of what it wrote. Whether that was the last one for a caller with room for `capacity`.
template <class Generator>
bool ends_writing(const typename Generator::Encoder::Arena& a, std::uint32_t capacity) noexcept {
    constexpr const TargetRules& rules = Generator::kRules;
    Writing& writing = *a.writing;
    if (++writing.position < read_before<Generator>(a)) return false;
    std::int32_t& token = a.written[writing.count];
    ++writing.count;
    if (token == rules.end) {
        writing.ended = Ended::end;
        return true;
    }
    if (writing.count == rules.max_tokens) {
        if (rules.forced_end) token = rules.end;
        writing.ended = Ended::length;
        return true;
    }
    writing.ended = Ended::capacity;
    return writing.count >= capacity;
}

// What was written, for the caller, as much as there is room for.
template <class Generator>
void finish_writing(const typename Generator::Encoder::Arena& a, bool truncated, std::int32_t* ids,
                    std::uint32_t capacity, typename Generator::Result& result) noexcept {
    const bool fits = a.writing->count <= capacity;
    const std::uint32_t count = fits ? a.writing->count : capacity;
    for (std::uint32_t i = 0; i < count; ++i)
        ids[i] = a.written[i];
    result.count = count;
    result.ended = fits ? a.writing->ended : Ended::capacity;
    result.tokens = a.texts[0].count;
    result.truncated = truncated;
}

// One Text or TokenIds to ids [capacity].
template <class Generator, class Workspace, class Input>
[[gnu::always_inline]] inline Status write(Workspace& workspace, const Input& input, std::int32_t* ids,
                                           std::uint32_t capacity, typename Generator::Result& result) noexcept {
    using Encoder = typename Generator::Encoder;
    const typename Encoder::Arena a = arena_of<Encoder>(workspace);
    if (Written{&workspace, sizeof workspace}.holds(ids, capacity * sizeof *ids)) return Status::text_overlaps;
    Tokenized tokens;
    const Status status = begin_writing<Generator>(workspace, input, a, tokens);
    if (status != Status::ok) return status;
    a.writing->ended = Ended::capacity;
    if (capacity != 0) {
        const OpContext context{chosen_kernels(Encoder::kPacking, workspace.kernels), a.scratch};
        const SharingRunner run{context, workspace.executor, Encoder::kScratchBytes};
        Encoder::forward(run, Texts{a.texts, 1}, a);
        do {
            write_some<Generator>(run, a);
            if (run.status() != Status::ok) return run.status();
        } while (!ends_writing<Generator>(a, capacity));
    }
    finish_writing<Generator>(a, tokens.truncated, ids, capacity, result);
    return Status::ok;
}

// The same in steps: each goes through the ops of the text, or of as many passes as it can afford.
template <class Generator, class Workspace, class Input>
[[gnu::always_inline]] inline Status begin_write(Workspace& workspace, const Input& input) noexcept {
    using Encoder = typename Generator::Encoder;
    const typename Encoder::Arena a = arena_of<Encoder>(workspace);
    Tokenized tokens;
    const Status status = begin_writing<Generator>(workspace, input, a, tokens);
    if (status != Status::ok) return status;
    workspace.cursor.kernels = &chosen_kernels(Encoder::kPacking, workspace.kernels);
    workspace.cursor.truncated = tokens.truncated;
    return Status::ok;
}

template <class Generator, class Workspace>
[[gnu::always_inline]] inline Status step_write(Workspace& workspace, std::uint64_t budget, std::int32_t* ids,
                                                std::uint32_t capacity, typename Generator::Result& result) noexcept {
    using Encoder = typename Generator::Encoder;
    StepCursor& cursor = workspace.cursor;
    if (cursor.kernels == nullptr) return Status::not_begun;
    if (Written{&workspace, sizeof workspace}.holds(ids, capacity * sizeof *ids)) return Status::text_overlaps;
    const typename Encoder::Arena a{workspace.arena};
    const SteppingRunner run{OpContext{*cursor.kernels, a.scratch}, cursor, budget};
    bool done = a.writing->count >= capacity;
    if (done) a.writing->ended = Ended::capacity;
    while (!done) {
        const bool of_text = !a.writing->has_text;
        if (of_text) {
            Encoder::forward(run, Texts{a.texts, 1}, a);
        } else {
            write_some<Generator>(run, a);
        }
        if (!run.finished()) return Status::in_progress;
        run.begin_list();
        a.writing->has_text = true;
        done = !of_text && ends_writing<Generator>(a, capacity);
    }
    finish_writing<Generator>(a, cursor.truncated, ids, capacity, result);
    cursor = {};
    return Status::ok;
}

}  // namespace calls
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
