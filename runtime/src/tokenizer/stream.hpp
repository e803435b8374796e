// SPDX-License-Identifier: Apache-2.0
// A text read some tokens at a time: the encoder stays between two calls where it stopped. A composition instantiates
// the functions.
#pragma once

#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>

#include "encoder.hpp"
#include "etch/tokenizer.hpp"
#include "pipeline.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

template <class Tables>
struct StreamState {
    StreamState(const Tables& tables, std::string_view text, SpecialTokens mode, void* scratch,
                const TokenStream& stream) noexcept
        : out{stream.ids, stream.offsets, stream.capacity},
          encoder(tables, text, mode, scratch, out, 0),
          cursor(encoder.reader()) {
        out.begins = stream.begins;
    }

    TokenWriter out;
    Encoder<Tables> encoder;
    typename Encoder<Tables>::Reader cursor;
};

}  // namespace tokenizer

template <class Tables>
Status open_stream(const Tables& tables, std::string_view text, SpecialTokens mode, void* scratch,
                   TokenStream& stream) noexcept {
    using State = tokenizer::StreamState<Tables>;
    static_assert(sizeof(State) <= TokenStream::kStateBytes && alignof(State) <= 8, "too little memory is planned");
    if (text.size() > kLongestText) return Status::text_too_long;
    stream.count = 0;
    stream.more = true;
    new (stream.state) State(tables, text, mode, scratch, stream);
    return Status::ok;
}

template <class Tables>
void read_stream(const Tables&, std::uint32_t drop, std::uint32_t wanted, TokenStream& stream) noexcept {
    auto& state = *std::launder(reinterpret_cast<tokenizer::StreamState<Tables>*>(stream.state));
    const std::uint32_t left = stream.count - drop;
    std::memmove(stream.ids, stream.ids + drop, left * sizeof *stream.ids);
    std::memmove(stream.offsets, stream.offsets + drop, left * sizeof *stream.offsets);
    std::memmove(stream.begins, stream.begins + drop, left);
    state.out.dropped += drop;
    state.encoder.set_enough(state.out.dropped + wanted);
    if (stream.more) stream.more = state.encoder.read(state.cursor);
    stream.count = state.out.count - state.out.dropped;
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
