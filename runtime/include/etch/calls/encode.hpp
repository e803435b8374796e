// SPDX-License-Identifier: Apache-2.0
// A call that tokenizes only.
#pragma once

#include "etch/calls/input.hpp"
#include "etch/calls/turn.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace calls {

// Of a Text or Pair. An Encoding has members ids, segments and offsets [kMaxTokens], count, truncated and cut_word.
template <class Encoder, class Workspace, class Input, class Encoding>
[[gnu::always_inline]] inline Status encode(Workspace& workspace, const Input& input, Encoding& encoding) noexcept {
    const Turn turn{workspace};
    if (!turn) return turn.refusal();
    const typename Encoder::Arena a = arena_of<Encoder>(workspace);
    const TokenSink sink{encoding.ids, encoding.segments, encoding.offsets, Encoder::kLimits.max_tokens};
    Tokenized tokens;
    if (overlaps(input, {&encoding, sizeof encoding})) return Status::text_overlaps;
    const Status status = take<Encoder>(input, workspace, a, sink, tokens);
    if (status != Status::ok) return status;
    encoding.count = tokens.count;
    encoding.truncated = tokens.truncated;
    encoding.cut_word = tokens.cut_word;
    return Status::ok;
}

}  // namespace calls
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
