// SPDX-License-Identifier: Apache-2.0
// Texts that are computed together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "etch/ops/texts.hpp"
#include "etch/status.hpp"
#include "etch/text_pair.hpp"
#include "etch/tokenizer.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

struct Batch {
    std::uint32_t count;  // texts
    bool truncated;       // the text was cut, the only one then
};

template <class Tokenizer>
Status tokenize_input(const Tokenizer& tables, std::string_view text, SpecialTokens mode, void* scratch,
                      const TokenSink& sink, Tokenized& tokens) noexcept {
    return tokenize(tables, text, mode, scratch, sink, tokens);
}
template <class Tokenizer>
Status tokenize_input(const Tokenizer& tables, const TextPair& pair, SpecialTokens mode, void* scratch,
                      const TokenSink& sink, Tokenized& tokens) noexcept {
    return tokenize_pair(tables, pair.first, pair.second, mode, scratch, sink, tokens);
}

// Tokenizes as many texts or pairs of [0, count) as fit the sink one after the other, at least the first; count is at
// least 1. A text is cut only where it is the first: another one that does not fit is left for the next batch. One
// without tokens is refused. `rows` has room for most_texts(sink.capacity), `scratch` is the tokenizer's. Not inlined:
// its frame is gone from the stack when the texts are computed.
template <class Tokenizer, class Input>
[[gnu::noinline]] Status tokenize_batch(const Tokenizer& tables, const Input* texts, std::size_t count,
                                        SpecialTokens mode, void* scratch, const TokenSink& sink, TextRows* rows,
                                        Batch& batch) noexcept {
    batch = {0, false};
    std::uint32_t first = 0;
    std::uint32_t place = 0;
    while (batch.count < count && (batch.count == 0 || place + kPanelWidth <= sink.capacity)) {
        Tokenized tokens;
        TokenOffset* const offsets = sink.offsets == nullptr ? nullptr : sink.offsets + first;
        const TokenSink rest{sink.ids + first, sink.segments + first, offsets, sink.capacity - place};
        const Status status = tokenize_input(tables, texts[batch.count], mode, scratch, rest, tokens);
        if (tokens.truncated && batch.count != 0) break;
        if (status != Status::ok) return status;
        if (tokens.count == 0) return Status::no_tokens;
        rows[batch.count] = whole_text(tokens.count, first, place);
        ++batch.count;
        batch.truncated = tokens.truncated;
        first += tokens.count;
        place += static_cast<std::uint32_t>(round_up(tokens.count, kPanelWidth));
    }
    return Status::ok;
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
