// SPDX-License-Identifier: Apache-2.0
// Calls that weigh a query by a table: each of its tokens once, however often it is there. Nothing is computed.
//
// Such an Encoder has kQueryWeights [kLimits.vocabulary] and kQueryTokens, those of the longest query, specials
// included; such a Head has weights(arena), the row [1][kLimits.vocabulary] that its finish() reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "etch/calls/answer.hpp"
#include "etch/calls/input.hpp"
#include "etch/calls/turn.hpp"
#include "etch/ops/rows.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace calls {

// Of a call that has its turn. Special tokens that the template writes around a text are no tokens of the query; those
// that the text spells are.
template <class Head, class Workspace, class Input>
Status weigh_query_in_turn(Workspace& workspace, const Input& input, typename Head::Result& result) noexcept {
    using Encoder = typename Head::Encoder;
    const typename Encoder::Arena a = arena_of<Encoder>(workspace);
    TokenSink sink = sink_of<Encoder>(a);
    sink.capacity = Encoder::kQueryTokens;
    Tokenized tokens;
    const Status status = take<Encoder>(input, workspace, a, sink, tokens);
    if (status != Status::ok) return status;
    if (tokens.count > Encoder::kQueryTokens) return Status::too_many_tokens;
    const F32Rows row = Head::weights(a);
    for (std::uint32_t entry = 0; entry < row.width; ++entry)
        row.data[entry] = 0.0f;
    const Around specials = around<Encoder>(input, workspace);
    for (std::uint32_t i = specials.before; i + specials.behind < tokens.count; ++i)
        row.data[a.ids[i]] = Encoder::kQueryWeights[a.ids[i]];
    Head::finish(nullptr, a, result);
    result.tokens = tokens.count;
    result.truncated = tokens.truncated;
    return Status::ok;
}

// A Text or TokenIds.
template <class Head, class Workspace, class Input>
[[gnu::always_inline]] inline Status weigh_query(Workspace& workspace, const Input& input,
                                                 typename Head::Result& result) noexcept {
    const Turn turn{workspace, &result};
    if (!turn) return turn.refusal();
    return weigh_query_in_turn<Head>(workspace, input, result);
}

// One text after the other.
template <class Head, class Workspace>
[[gnu::always_inline]] inline Status weigh_queries(Workspace& workspace, const std::string_view* texts,
                                                   std::size_t count, typename Head::Result* results) noexcept {
    return answer_one_by_one<Head>(workspace, texts, count, results,
                                   [&workspace](const Text& text, typename Head::Result& result) {
                                       return weigh_query_in_turn<Head>(workspace, text, result);
                                   });
}

}  // namespace calls
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
