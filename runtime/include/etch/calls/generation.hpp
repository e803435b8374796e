// SPDX-License-Identifier: Apache-2.0
// Calls of a generative model: the text once, then a pass for each token that is read.
//
// A Generator has
//     Encoder, Result                   as a Head has them (calls.hpp); Result: count, bytes, score, ended, tokens,
//                                       truncated
//     TargetRules kRules                of what it writes
//     kBeams                            most beams of a search (beams.hpp); 1: it is greedy
//     read(run, text, steps, token, a)  the pass of a token for each of `steps`: keys and values are appended; `text`
//                                       are the rows that forward() made
//     choose(run, rows, a)              after it, where tokens are to be written: what their logits are made of
//     project(run, rows, entries, a)    of these rows the logits of these entries, which
//     logits(a)                         is where: room for entries_at_once() of them; with
//     kAllLogits                        for all entries of kBeams rows
//     spelling_behind(ids, count)       etch::decoding_behind() the text, where the target begins with it
//     spell(id, state, text, capacity)  etch::decode() of an id that was written, where it writes texts
//     finish_spelling(state, text, capacity)  etch::finish_decoding()
// and the arena `a` has, for all of a call, texts and a `writing`, ids where the target begins with the text, and for
// all passes `written` [kRules.max_tokens]. The score of what is written greedily is the sum of its log-probabilities,
// where it is drawn of those that it was drawn with.
#pragma once

#include <cstddef>
#include <cstdint>

#include "etch/calls/beams.hpp"
#include "etch/calls/input.hpp"
#include "etch/calls/turn.hpp"
#include "etch/decode/generation.hpp"
#include "etch/kernels.hpp"
#include "etch/ops/op.hpp"
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
        if (Generator::kRules.is_end(token)) return true;
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

// How tokens are drawn, temperature 0 where they are not.
template <class Generator, class Workspace>
const Sampling& sampling_of(const Workspace& workspace) noexcept {
    return workspace.sampling != nullptr ? *workspace.sampling : Generator::kRules.sampling;
}

// Whether a call writes one sequence, be it drawn.
template <class Generator, class Workspace>
bool is_greedy(const Workspace& workspace) noexcept {
    return Generator::kBeams == 1 || workspace.beams == 1 || sampling_of<Generator>(workspace).temperature > 0.0f;
}

// Tokens that a call may write: it may be told to write fewer than the model can.
template <class Generator, class Workspace>
std::uint32_t most_written(const Workspace& workspace) noexcept {
    constexpr std::uint32_t most = Generator::kRules.max_tokens;
    const std::uint32_t asked = workspace.max_target;
    return asked != 0 && asked < most ? asked : most;
}

// Tokens in the arena, at most `room`, nothing written yet; of texts that are drawn together each has its `number`.
template <class Generator, class Workspace, class Input>
Status begin_writing(Workspace& workspace, const Input& input, const typename Generator::Encoder::Arena& a,
                     std::uint32_t room, std::uint32_t number, Tokenized& tokens) noexcept {
    using Encoder = typename Generator::Encoder;
    TokenSink sink = sink_of<Encoder>(a);
    sink.capacity = room;
    const Status status = take<Encoder>(input, workspace, a, sink, tokens);
    if (status != Status::ok) return status;
    const Sampling& sampling = sampling_of<Generator>(workspace);
    if (check_sampling(sampling) != Status::ok) return Status::sampling_out_of_range;
    *a.writing = {};
    a.writing->most = most_written<Generator>(workspace);
    a.writing->sampling = sampling;
    a.writing->sampling.text += number;
    if (tokens.count == 0) {
        if (Generator::kRules.empty < 0) return Status::no_tokens;
        a.ids[0] = Generator::kRules.empty;
        tokens.count = 1;
    }
    a.texts[0] = whole_text(tokens.count);
    a.writing->spelling = first_spelling<Generator>(a);
    begin_search<Generator>(a, is_greedy<Generator>(workspace) ? 1 : workspace.beams);
    return Status::ok;
}

// What the next pass reads, and whether that is the last before one is written, or one that was.
template <class Generator>
const std::int32_t* next_read(const typename Generator::Encoder::Arena& a) noexcept {
    const std::uint32_t position = a.writing->position;
    const std::uint32_t first = read_before<Generator>(a);
    return position < first ? begin_of<Generator>(a) + position : a.written + (position - first);
}
template <class Generator>
bool has_read_all(const typename Generator::Encoder::Arena& a) noexcept {
    return a.writing->position + 1 >= read_before<Generator>(a);
}

template <class Generator>
bool draws(const typename Generator::Encoder::Arena& a) noexcept {
    return a.writing->sampling.temperature > 0.0f;
}

// The token behind those that are written, of the logits of these entries; of all where one is drawn.
template <class Generator, class Runner>
void choose_next(const Runner& run, const typename Generator::Encoder::Arena& a, const RowBlock& entries,
                 float* logits) noexcept {
    constexpr const TargetRules& rules = Generator::kRules;
    Writing& writing = *a.writing;
    std::int32_t* const next = a.written + writing.count;
    if constexpr (rules.restrictions != nullptr) {
        const TokensBefore before{begin_of<Generator>(a), read_before<Generator>(a), a.written, writing.count};
        run(RestrictLogits{*rules.restrictions, before, logits});
    }
    if (draws<Generator>(a)) {
        run(HideTokens{rules, writing.count, logits});
        run(DrawnToken{writing.sampling, rules.vocabulary, writing.count, logits, next, &writing.added});
    } else {
        run(BestToken{rules, entries, logits, writing, next});
    }
}

// The next pass: reads a token, and writes the one behind it where all that comes before has been read.
template <class Generator, class Runner>
void write_some(const Runner& run, const typename Generator::Encoder::Arena& a) noexcept {
    const std::uint32_t position = a.writing->position;
    const bool chooses = has_read_all<Generator>(a);
    if constexpr (Generator::kBeams > 1) {
        if (searches<Generator>(a)) {
            const bool begins = position < read_before<Generator>(a);
            search_some<Generator>(run, a, begins ? begin_of<Generator>(a) + position : nullptr, chooses);
            return;
        }
    }
    const Texts text{a.texts, 1};
    const TextRows row{0, 1, position, position + 1, 0};
    Generator::read(run, text, Texts{&row, 1}, next_read<Generator>(a), a);
    if (!chooses) return;
    Generator::choose(run, 1, a);
    constexpr RowBlock all{0, Generator::kRules.vocabulary};
    Generator::project(run, {0, 1}, all, a);
    choose_next<Generator>(run, a, all, Generator::logits(a));
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
    const bool is_end = rules.is_end(token);
    const bool is_last = writing.count + 1 == writing.most;
    const bool is_forced = is_last && rules.forced_end;
    if (is_forced) token = rules.ends[0];
    writing.ended = Ended::capacity;
    if (!target.add(writing, token)) return true;
    ++writing.count;
    if (!is_forced) writing.score += writing.added;
    if (is_end || is_last) writing.ended = is_end ? Ended::end : Ended::length;
    return is_end || is_last || target.is_full(writing);
}

// Whether no token is to be written, because nothing has room.
template <class Target>
bool has_no_room(Writing& writing, const Target& target) noexcept {
    if (!target.is_full(writing)) return false;
    writing.ended = Ended::capacity;
    return true;
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
    // Where a token had no room, the first bytes of its character are left out with it.
    if (a.writing->ended != Ended::capacity && !target.finish(*a.writing)) a.writing->ended = Ended::capacity;
    a.writing->over = true;
    tell<Generator>(*a.writing, result);
    result.ended = a.writing->ended;
    result.tokens = a.texts[0].count;
    result.truncated = truncated;
}

// One Text or TokenIds, in a workspace whose turn it is.
template <class Generator, class Workspace, class Input, class Target>
[[gnu::always_inline]] inline Status write_alone(Workspace& workspace, const Input& input,
                                                 const typename Generator::Encoder::Arena& a, std::uint32_t number,
                                                 const Target& target, typename Generator::Result& result) noexcept {
    using Encoder = typename Generator::Encoder;
    Tokenized tokens;
    const Status status = begin_writing<Generator>(workspace, input, a, Encoder::kLimits.max_tokens, number, tokens);
    if (status != Status::ok) return status;
    a.writing->ended = Ended::capacity;
    if (!target.is_full(*a.writing)) {
        const OpContext context{chosen_kernels(Encoder::kKernels, workspace.kernels), a.scratch};
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

// Whether what is written would go where the call works.
template <class Target, class Workspace>
bool is_in(const Target& target, const Workspace& workspace) noexcept {
    return in_memory_of(workspace, [&](const Written& memory) { return target.is_in(memory); });
}

template <class Generator, class Workspace, class Input, class Target>
[[gnu::always_inline]] inline Status write(Workspace& workspace, const Input& input, const Target& target,
                                           typename Generator::Result& result) noexcept {
    const Turn turn{workspace, &result};
    if (!turn) return turn.refusal();
    const typename Generator::Encoder::Arena a = arena_of<typename Generator::Encoder>(workspace);
    if (is_in(target, workspace)) return Status::text_overlaps;
    return write_alone<Generator>(workspace, input, a, 0, target, result);
}

// Of the sequences that the last call found the one of this rank, 0 what it wrote. A call that is under way has found
// none, and ends.
template <class Generator, class Workspace, class Target>
Status write_found(Workspace& workspace, std::uint32_t rank, const Target& target,
                   typename Generator::Result& result) noexcept {
    const Turn turn{workspace};
    if (!turn) return turn.refusal();
    if (workspace.cursor.kernels != nullptr) workspace.cursor = {};
    if (is_in(target, workspace)) return Status::text_overlaps;
    if (rank >= workspace.cursor.found) return Status::not_begun;
    const typename Generator::Encoder::Arena a = arena_in<typename Generator::Encoder>(workspace);
    hand_over<Generator>(a, rank, target);
    finish_writing<Generator>(a, target, workspace.cursor.truncated, result);
    return Status::ok;
}

}  // namespace calls
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
