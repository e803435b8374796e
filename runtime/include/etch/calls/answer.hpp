// SPDX-License-Identifier: Apache-2.0
// Calls that answer at once: one text, or a batch of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "etch/calls/batch.hpp"
#include "etch/calls/input.hpp"
#include "etch/calls/turn.hpp"
#include "etch/kernels.hpp"
#include "etch/ops/op.hpp"
#include "etch/ops/texts.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace calls {

// The result of one text.
template <class Head, class Runner>
auto finish(const Runner& run, const TextRows& text, const typename Head::Encoder::Arena& a,
            typename Head::Result& result, int) noexcept -> decltype(Head::finish(run, text, a, result)) {
    Head::finish(run, text, a, result);
}
template <class Head, class Runner>
void finish(const Runner& run, const TextRows&, const typename Head::Encoder::Arena& a, typename Head::Result& result,
            long) noexcept {
    Head::finish(run, a, result);
}

// Takes views of the workspace out of a result that is there for longer.
template <class Head>
auto forget_views(typename Head::Result& result, int) noexcept -> decltype(Head::forget_views(result)) {
    Head::forget_views(result);
}
template <class Head, class Result>
void forget_views(Result&, long) noexcept {}

// What a result says of its text; where it has one of each of several heads, all of them say it.
template <class Head>
auto describe_text(typename Head::Result& result, std::uint32_t tokens, bool truncated, int) noexcept
    -> decltype(Head::describe_text(result, tokens, truncated)) {
    Head::describe_text(result, tokens, truncated);
}
template <class Head>
void describe_text(typename Head::Result& result, std::uint32_t tokens, bool truncated, long) noexcept {
    result.tokens = tokens;
    result.truncated = truncated;
}

// Computes the texts whose ids are in the arena and fills in their results.
template <class Head, class Workspace>
Status compute(Workspace& workspace, const typename Head::Encoder::Arena& a, const Batch& batch,
               typename Head::Result* results) noexcept {
    using Encoder = typename Head::Encoder;
    const OpContext context{chosen_kernels(Encoder::kKernels, workspace.kernels), a.scratch};
    const SharingRunner run{context, workspace.executor, Encoder::kScratchBytes};
    const Texts texts{a.texts, batch.count};
    Encoder::forward(run, texts, a);
    for (std::uint32_t text = 0; text < texts.count; ++text) {
        Head::compute(run, texts, text, a);
        if (run.status() != Status::ok) return run.status();
        finish<Head>(run, texts.texts[text], a, results[text], 0);
        describe_text<Head>(results[text], texts.texts[text].count, batch.truncated, 0);
    }
    return Status::ok;
}

// One Text, Pair or TokenIds, of a call that has its turn.
template <class Head, class Workspace, class Input>
[[gnu::always_inline]] inline Status answer_in_turn(Workspace& workspace, const Input& input,
                                                    typename Head::Result& result) noexcept {
    using Encoder = typename Head::Encoder;
    const typename Encoder::Arena a = arena_of<Encoder>(workspace);
    Tokenized tokens;
    const Status status = take_some<Encoder>(input, workspace, a, sink_of<Encoder>(a), tokens);
    if (status != Status::ok) return status;
    a.texts[0] = whole_text(tokens.count);
    note<Encoder>(input, a.texts[0], a, 0);
    return compute<Head>(workspace, a, Batch{1, tokens.truncated}, &result);
}

template <class Head, class Workspace, class Input>
[[gnu::always_inline]] inline Status answer(Workspace& workspace, const Input& input,
                                            typename Head::Result& result) noexcept {
    const Turn turn{workspace, &result};
    if (!turn) return turn.refusal();
    return answer_in_turn<Head>(workspace, input, result);
}

// `texts` [count] are texts or pairs.
template <class Head, class Workspace, class Input>
[[gnu::always_inline]] inline Status answer_batch(Workspace& workspace, const Input* texts, std::size_t count,
                                                  typename Head::Result* results) noexcept {
    using Encoder = typename Head::Encoder;
    const Turn turn{workspace, results};
    if (!turn) return turn.refusal();
    const typename Encoder::Arena a = arena_of<Encoder>(workspace);
    Batch batch{};
    if (!std::is_same<Input, std::string_view>::value && !Encoder::kPairs) return Status::pair_not_supported;
    if (one_lies_in(workspace, texts, count, results)) return Status::text_overlaps;
    for (std::size_t done = 0; done < count; done += batch.count) {
        Status status = tokenize_batch(Encoder::kTokenizer, texts + done, count - done, workspace.special_tokens,
                                       a.tokenizer, sink_of<Encoder>(a), a.texts, batch);
        if (status != Status::ok) return status;
        for (std::uint32_t i = 0; i < batch.count; ++i)
            note<Encoder>(input_of(texts[done + i]), a.texts[i], a, 0);
        status = compute<Head>(workspace, a, batch, results + done);
        if (status != Status::ok) return status;
        for (std::uint32_t i = 0; i < batch.count; ++i)
            forget_views<Head>(results[done + i], 0);
    }
    return Status::ok;
}

// Texts one after the other: answer(text, result) is that of one, in the turn of all.
template <class Head, class Workspace, class Result, class Answer>
[[gnu::always_inline]] inline Status answer_one_by_one(Workspace& workspace, const std::string_view* texts,
                                                       std::size_t count, Result* results,
                                                       const Answer& answer) noexcept {
    const Turn turn{workspace, results};
    if (!turn) return turn.refusal();
    arena_of<typename Head::Encoder>(workspace);
    if (one_lies_in(workspace, texts, count, results)) return Status::text_overlaps;
    for (std::size_t i = 0; i < count; ++i) {
        const Status status = answer(Text{texts[i]}, results[i]);
        if (status != Status::ok) return status;
        forget_views<Head>(results[i], 0);
    }
    return Status::ok;
}

}  // namespace calls
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
