// SPDX-License-Identifier: Apache-2.0
// Calls of a model that gives a vector for each token: how a text is read is up to its side.
//
// Such an Encoder has kSides [2], SideRules of documents and of queries, such an arena `kept` [kLimits.max_tokens],
// such a Result a `side`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "etch/calls/answer.hpp"
#include "etch/calls/input.hpp"
#include "etch/calls/turn.hpp"
#include "etch/kernels.hpp"
#include "etch/ops/rows.hpp"
#include "etch/ops/texts.hpp"
#include "etch/side.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace calls {

// Whether tokens of this id have no vector: a binary search.
inline bool is_skipped(const SideRules& rules, std::int32_t id) noexcept {
    std::uint32_t first = 0;
    for (std::uint32_t count = rules.skipped_count; count != 0;) {
        const std::uint32_t half = count / 2;
        const bool behind = rules.skipped[first + half] < id;
        first += behind ? half + 1 : 0;
        count = behind ? count - half - 1 : half;
    }
    return first < rules.skipped_count && rules.skipped[first] == id;
}

// The tokens of the input in the arena, filled up, and which of them have a vector.
template <class Encoder, class Workspace, class Input>
Status take_side(const Input& input, Side side, const Workspace& workspace, const typename Encoder::Arena& a,
                 Tokenized& tokens) noexcept {
    const SideRules& rules = Encoder::kSides[side == Side::query ? 1 : 0];
    TokenSink sink = sink_of<Encoder>(a);
    sink.capacity = rules.max_tokens;
    const Status status = take_some<Encoder>(input, workspace, a, sink, tokens);
    if (status != Status::ok) return status;
    if (tokens.count > rules.max_tokens) return Status::too_many_tokens;
    TextRows& text = a.texts[0];
    text = whole_text(tokens.count);
    for (; text.count < rules.least_tokens; ++text.count) {
        a.ids[text.count] = rules.filler;
        a.segments[text.count] = 0;
    }
    if (rules.filler_is_seen) text.keys = text.count;
    for (std::uint32_t i = 0; i < text.count; ++i)
        a.kept[i] = !is_skipped(rules, a.ids[i]);
    return Status::ok;
}

// Of a call that has its turn.
template <class Head, class Workspace, class Input>
[[gnu::always_inline]] inline Status answer_side_in_turn(Workspace& workspace, const Input& input,
                                                         typename Head::Result& result) noexcept {
    using Encoder = typename Head::Encoder;
    const typename Encoder::Arena a = arena_of<Encoder>(workspace);
    Tokenized tokens;
    const Status status = take_side<Encoder>(input, result.side, workspace, a, tokens);
    if (status != Status::ok) return status;
    return compute<Head>(workspace, a, Batch{1, tokens.truncated}, &result);
}

template <class Head, class Workspace, class Input>
[[gnu::always_inline]] inline Status answer_side(Workspace& workspace, const Input& input,
                                                 typename Head::Result& result) noexcept {
    const Turn turn{workspace, &result};
    if (!turn) return turn.refusal();
    return answer_side_in_turn<Head>(workspace, input, result);
}

// Texts of either side, one after the other.
template <class Head, class Workspace>
[[gnu::always_inline]] inline Status answer_sides(Workspace& workspace, const std::string_view* texts,
                                                  std::size_t count, typename Head::Result* results) noexcept {
    return answer_one_by_one<Head>(workspace, texts, count, results,
                                   [&workspace](const Text& text, typename Head::Result& result) {
                                       return answer_side_in_turn<Head>(workspace, text, result);
                                   });
}

template <class Encoder, class Workspace, class Input>
[[gnu::always_inline]] inline Status begin_side(Workspace& workspace, const Input& input, Side side) noexcept {
    const Turn turn{workspace};
    if (!turn) return turn.refusal();
    const typename Encoder::Arena a = arena_of<Encoder>(workspace);
    Tokenized tokens;
    const Status status = take_side<Encoder>(input, side, workspace, a, tokens);
    if (status != Status::ok) return status;
    workspace.cursor.kernels = &chosen_kernels(Encoder::kKernels, workspace.kernels);
    workspace.cursor.truncated = tokens.truncated;
    return Status::ok;
}

// The vectors of the tokens that have one go to the caller's [capacity][rows.width]. Returns how many there are.
inline std::uint32_t copy_kept(const F32Rows& rows, const bool* kept, std::uint32_t count, float* vectors,
                               std::uint32_t capacity) noexcept {
    std::uint32_t found = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        if (!kept[i]) continue;
        if (found < capacity)
            std::memcpy(vectors + std::size_t{found} * rows.width, rows.from(i).data, rows.width * sizeof(float));
        ++found;
    }
    return found;
}

}  // namespace calls
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
