// SPDX-License-Identifier: Apache-2.0
// Calls of a model that writes: the text once, then a pass for each token that is read.
//
// A Generator has
//     Encoder, Result                   as a Head has them (calls.hpp); Result: count, bytes, score, ended, tokens,
//                                       truncated
//     TargetRules kRules                of what it writes
//     kBeams                            most beams of a search (beams.hpp); 1: it is greedy
//     read(run, text, steps, token, a)  the pass of a token for each of `steps`: keys and values are appended; `text`
//                                       are the rows that forward() made
//     choose(run, rows, a)              after it, where tokens are to be written: their logits
//     logits(a)                         where these are
//     spelling_behind(ids, count)       etch::decoding_behind() the text, where the target begins with it
//     spell(id, state, text, capacity)  etch::decode() of an id that was written, where it writes texts
//     finish_spelling(state, text, capacity)  etch::finish_decoding()
// and the arena `a` has, for all of a call, texts and a `writing`, ids where the target begins with the text, and for
// all passes `written` [kRules.max_tokens]. The score of what is written greedily is the sum of its log-probabilities.
#pragma once

#include <cstddef>
#include <cstdint>

#include "etch/calls/beams.hpp"
#include "etch/calls/input.hpp"
#include "etch/decode/generation.hpp"
#include "etch/kernels.hpp"
#include "etch/ops/op.hpp"
#include "etch/ops/stepping.hpp"
#include "etch/ops/texts.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace calls {

// Where what is written goes: as ids, the end included.
template <class Generator>
struct TargetIds {
    std::int32_t* ids;  // [capacity]
    std::uint32_t capacity;

    bool is_in(const Written& memory) const noexcept { return memory.holds(ids, capacity * sizeof *ids); }
    bool is_full(const Writing& writing) const noexcept { return writing.count >= capacity; }

    // Takes a token; false where there is no room for it.
    bool add(Writing& writing, std::int32_t token) const noexcept {
        if (is_full(writing)) return false;
        ids[writing.count] = token;
        return true;
    }
    bool finish(Writing&) const noexcept { return true; }
};

// As a text of whole characters, without the end.
template <class Generator>
struct TargetText {
    char* text;
    std::size_t capacity;

    bool is_in(const Written& memory) const noexcept { return memory.holds(text, capacity); }
    bool is_full(const Writing&) const noexcept { return false; }  // the end may come next
    bool add(Writing& writing, std::int32_t token) const noexcept {
        if (token == Generator::kRules.end) return true;
        return takes(writing, Generator::spell(token, writing.spelling, text + writing.bytes, room(writing)));
    }
    bool finish(Writing& writing) const noexcept {
        return takes(writing, Generator::finish_spelling(writing.spelling, text + writing.bytes, room(writing)));
    }

  private:
    std::size_t room(const Writing& writing) const noexcept {
        return capacity > writing.bytes ? capacity - writing.bytes : 0;
    }
    bool takes(Writing& writing, std::size_t size) const noexcept {
        if (size > room(writing)) return false;
        writing.bytes += static_cast<std::uint32_t>(size);
        return true;
    }
};

// Tokens in the arena, nothing written yet.
template <class Generator, class Workspace, class Input>
Status begin_writing(Workspace& workspace, const Input& input, const typename Generator::Encoder::Arena& a,
                     Tokenized& tokens) noexcept {
    using Encoder = typename Generator::Encoder;
    const Status status = take<Encoder>(input, workspace, a, sink_of<Encoder>(a), tokens);
    if (status != Status::ok) return status;
    *a.writing = {};
    if constexpr (Generator::kRules.begin_count == 0) {
        if (tokens.count == 0) {
            if (Generator::kRules.empty < 0) return Status::no_tokens;
            a.ids[0] = Generator::kRules.empty;
            tokens.count = 1;
        }
    }
    a.texts[0] = whole_text(tokens.count);
    a.writing->spelling = first_spelling<Generator>(a);
    begin_search<Generator>(a, workspace.beams);
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
    Writing& writing = *a.writing;
    const std::uint32_t position = writing.position;
    const std::uint32_t first = read_before<Generator>(a);
    const bool chooses = position + 1 >= first;
    const std::int32_t* const before = rules.begin_count == 0 ? a.ids : rules.begin;
    if constexpr (Generator::kBeams > 1) {
        if (searches<Generator>(a)) {
            search_some<Generator>(run, a, position < first ? before + position : nullptr, chooses);
            return;
        }
    }
    const Texts text{a.texts, 1};
    const TextRows row{0, 1, position, position + 1, 0};
    const std::int32_t* const token = position < first ? before + position : a.written + (position - first);
    Generator::read(run, text, Texts{&row, 1}, token, a);
    if (!chooses) return;
    Generator::choose(run, 1, a);
    run(BestToken{rules, writing.count, Generator::logits(a).data, a.written + writing.count, &writing.added});
}

// Behind a pass: hands over what it wrote. Whether that was the last one.
template <class Generator, class Target>
bool ends_writing(const typename Generator::Encoder::Arena& a, const Target& target) noexcept {
    constexpr const TargetRules& rules = Generator::kRules;
    Writing& writing = *a.writing;
    ++writing.position;
    if constexpr (Generator::kBeams > 1) {
        if (searches<Generator>(a)) {
            if (!ends_search<Generator>(a)) return false;
            hand_over<Generator>(a, 0, target);
            return true;
        }
    }
    if (writing.position < read_before<Generator>(a)) return false;
    std::int32_t& token = a.written[writing.count];
    const bool is_end = token == rules.end;
    const bool is_last = writing.count + 1 == rules.max_tokens;
    const bool is_forced = is_last && rules.forced_end;
    if (is_forced) token = rules.end;
    writing.ended = Ended::capacity;
    if (!target.add(writing, token)) return true;
    ++writing.count;
    if (!is_forced) writing.score += writing.added;
    if (is_end || is_last) writing.ended = is_end ? Ended::end : Ended::length;
    return is_end || is_last || target.is_full(writing);
}

// How much there is so far.
template <class Generator>
void tell(const Writing& writing, typename Generator::Result& result) noexcept {
    result.count = writing.count;
    result.bytes = writing.bytes;
    result.score = writing.score;
}

template <class Generator, class Target>
void finish_writing(const typename Generator::Encoder::Arena& a, const Target& target, bool truncated,
                    typename Generator::Result& result) noexcept {
    if (!target.finish(*a.writing)) a.writing->ended = Ended::capacity;
    tell<Generator>(*a.writing, result);
    result.ended = a.writing->ended;
    result.tokens = a.texts[0].count;
    result.truncated = truncated;
}

// One Text or TokenIds.
template <class Generator, class Workspace, class Input, class Target>
[[gnu::always_inline]] inline Status write(Workspace& workspace, const Input& input, const Target& target,
                                           typename Generator::Result& result) noexcept {
    using Encoder = typename Generator::Encoder;
    const typename Encoder::Arena a = arena_of<Encoder>(workspace);
    if (target.is_in({&workspace, sizeof workspace})) return Status::text_overlaps;
    Tokenized tokens;
    const Status status = begin_writing<Generator>(workspace, input, a, tokens);
    if (status != Status::ok) return status;
    a.writing->ended = Ended::capacity;
    if (!target.is_full(*a.writing)) {
        const OpContext context{chosen_kernels(Encoder::kPacking, workspace.kernels), a.scratch};
        const SharingRunner run{context, workspace.executor, Encoder::kScratchBytes};
        Encoder::forward(run, Texts{a.texts, 1}, a);
        do {
            write_some<Generator>(run, a);
            if (run.status() != Status::ok) return run.status();
        } while (!ends_writing<Generator>(a, target));
    }
    finish_writing<Generator>(a, target, tokens.truncated, result);
    note_found<Generator>(workspace, a, tokens.truncated);
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

template <class Generator, class Workspace, class Target>
[[gnu::always_inline]] inline Status step_write(Workspace& workspace, std::uint64_t budget, const Target& target,
                                                typename Generator::Result& result) noexcept {
    using Encoder = typename Generator::Encoder;
    StepCursor& cursor = workspace.cursor;
    if (cursor.kernels == nullptr) return Status::not_begun;
    if (target.is_in({&workspace, sizeof workspace})) return Status::text_overlaps;
    const typename Encoder::Arena a{workspace.arena};
    const SteppingRunner run{OpContext{*cursor.kernels, a.scratch}, cursor, budget};
    bool done = target.is_full(*a.writing);
    if (done) a.writing->ended = Ended::capacity;
    while (!done) {
        const bool of_text = !a.writing->has_text;
        if (of_text) {
            Encoder::forward(run, Texts{a.texts, 1}, a);
        } else {
            write_some<Generator>(run, a);
        }
        if (!run.finished()) {
            tell<Generator>(*a.writing, result);
            return Status::in_progress;
        }
        run.begin_list();
        a.writing->has_text = true;
        done = !of_text && ends_writing<Generator>(a, target);
    }
    const bool truncated = cursor.truncated;
    finish_writing<Generator>(a, target, truncated, result);
    cursor = {};
    note_found<Generator>(workspace, a, truncated);
    return Status::ok;
}

// Of the sequences that the last call found the one of this rank, 0 what it wrote.
template <class Generator, class Workspace, class Target>
Status write_found(Workspace& workspace, std::uint32_t rank, const Target& target,
                   typename Generator::Result& result) noexcept {
    if (target.is_in({&workspace, sizeof workspace})) return Status::text_overlaps;
    if (rank >= workspace.cursor.found) return Status::not_begun;
    const typename Generator::Encoder::Arena a{workspace.arena};
    hand_over<Generator>(a, rank, target);
    finish_writing<Generator>(a, target, workspace.cursor.truncated, result);
    return Status::ok;
}

}  // namespace calls
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
