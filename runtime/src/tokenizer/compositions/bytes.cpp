// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/bytes.hpp"

#include "tokenizer/no_normalizer.hpp"
#include "tokenizer/pipeline.hpp"
#include "tokenizer/single_character_segmenter.hpp"
#include "tokenizer/stream.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

template Status tokenize(const ByteTokenizer&, std::string_view, SpecialTokens, void*, const TokenSink&,
                         Tokenized&) noexcept;
template Status tokenize_pair(const ByteTokenizer&, std::string_view, std::string_view, SpecialTokens, void*,
                              const TokenSink&, Tokenized&) noexcept;
template Status open_stream(const ByteTokenizer&, std::string_view, SpecialTokens, void*, TokenStream&) noexcept;
template void read_stream(const ByteTokenizer&, std::uint32_t, std::uint32_t, TokenStream&) noexcept;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
