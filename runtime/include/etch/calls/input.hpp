// SPDX-License-Identifier: Apache-2.0
// What a call is given -> token ids and segments, where a sink wants them.
#pragma once

#include <cstdint>
#include <string_view>

#include "etch/calls/memory.hpp"
#include "etch/ops/texts.hpp"
#include "etch/status.hpp"
#include "etch/step_cursor.hpp"
#include "etch/text_pair.hpp"
#include "etch/token_limits.hpp"
#include "etch/tokenizer.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace calls {

struct Text {
    std::string_view text;
};

using Pair = TextPair;

struct TokenIds {
    const std::int32_t* ids;       // [count]
    const std::uint8_t* segments;  // [count], or null: all 0
    std::uint32_t count;
};

// What is read for one element of a batch.
inline Text input_of(std::string_view text) noexcept {
    return {text};
}
inline Pair input_of(const TextPair& pair) noexcept {
    return pair;
}
inline TokenIds input_of(const TokenIds& ids) noexcept {
    return ids;
}

inline bool overlaps(const Text& input, const Written& memory) noexcept {
    return memory.holds(input.text.data(), input.text.size());
}

inline bool overlaps(const Pair& input, const Written& memory) noexcept {
    return memory.holds(input.first.data(), input.first.size()) ||
           memory.holds(input.second.data(), input.second.size());
}

inline bool overlaps(const TokenIds& input, const Written& memory) noexcept {
    return memory.holds(input.ids, input.count * sizeof *input.ids) ||
           (input.segments != nullptr && memory.holds(input.segments, input.count));
}

// Whether a byte that is read lies where the call writes.
template <class Input, class Workspace>
bool lies_in(const Input& input, const Workspace& workspace) noexcept {
    return in_memory_of(workspace, [&](const Written& memory) { return overlaps(input, memory); });
}

// The arena for another call: one in steps that was under way has ended.
template <class Encoder, class Workspace>
typename Encoder::Arena arena_of(Workspace& workspace) noexcept {
    workspace.cursor = {};
    return arena_in<Encoder>(workspace);
}

// The plan has a place for offsets where the head reads them.
template <class Arena>
auto offsets_of(const Arena& a, int) noexcept -> decltype(a.offsets) {
    return a.offsets;
}
template <class Arena>
TokenOffset* offsets_of(const Arena&, long) noexcept {
    return nullptr;
}

// Where a call that computes wants its tokens.
template <class Encoder>
TokenSink sink_of(const typename Encoder::Arena& a) noexcept {
    return {a.ids, a.segments, offsets_of(a, 0), Encoder::kLimits.max_tokens};
}

// What the head reads of the input beside its tokens, while the input is there: see calls.hpp.
template <class Encoder, class Input>
auto note(const Input& input, const TextRows& text, const typename Encoder::Arena& a, int) noexcept
    -> decltype(Encoder::note(input, text, a)) {
    Encoder::note(input, text, a);
}
template <class Encoder, class Input>
void note(const Input&, const TextRows&, const typename Encoder::Arena&, long) noexcept {}

template <class Encoder, class Workspace>
Status take(const Text& input, const Workspace& workspace, const typename Encoder::Arena& a, const TokenSink& sink,
            Tokenized& tokens) noexcept {
    if (lies_in(input, workspace)) return Status::text_overlaps;
    return tokenize(Encoder::kTokenizer, input.text, workspace.special_tokens, a.tokenizer, sink, tokens);
}

template <class Encoder, class Workspace>
Status take(const Pair& input, const Workspace& workspace, const typename Encoder::Arena& a, const TokenSink& sink,
            Tokenized& tokens) noexcept {
    if (!Encoder::kPairs) return Status::pair_not_supported;
    if (lies_in(input, workspace)) return Status::text_overlaps;
    return tokenize_pair(Encoder::kTokenizer, input.first, input.second, workspace.special_tokens, a.tokenizer, sink,
                         tokens);
}

template <class Encoder, class Workspace>
Status take(const TokenIds& input, const Workspace& workspace, const typename Encoder::Arena&, const TokenSink& sink,
            Tokenized& tokens) noexcept {
    const Status status = check_tokens(input.ids, input.segments, input.count, Encoder::kLimits);
    if (status != Status::ok) return status;
    if (lies_in(input, workspace)) return Status::text_overlaps;
    for (std::uint32_t i = 0; i < input.count; ++i) {
        sink.ids[i] = input.ids[i];
        sink.segments[i] = input.segments != nullptr ? input.segments[i] : std::uint8_t{0};
    }
    tokens = {input.count, false};
    return Status::ok;
}

// Special tokens around those of a text, or of ids, which are framed as the template does it.
struct Around {
    std::uint32_t before;
    std::uint32_t behind;
};

template <class Encoder, class Workspace>
Around around(const TokenIds&, const Workspace&) noexcept {
    const Template& parts = Encoder::kTokenizer.parts;
    const std::uint32_t before = tokens_before(parts.single, TemplatePart::kFirst);
    return {before, parts.single_count - 1 - before};
}
template <class Encoder, class Workspace>
Around around(const Text&, const Workspace& workspace) noexcept {
    if (workspace.special_tokens == SpecialTokens::in_text) return {0, 0};
    return around<Encoder>(TokenIds{}, workspace);
}

// The same for a call that computes: of a text without tokens, which a tokenizer that adds none may make, it has
// nothing to compute.
template <class Encoder, class Input, class Workspace>
Status take_some(const Input& input, const Workspace& workspace, const typename Encoder::Arena& a,
                 const TokenSink& sink, Tokenized& tokens) noexcept {
    const Status status = take<Encoder>(input, workspace, a, sink, tokens);
    return status == Status::ok && tokens.count == 0 ? Status::no_tokens : status;
}

}  // namespace calls
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
