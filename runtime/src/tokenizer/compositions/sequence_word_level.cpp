// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/pipeline.hpp"
#include "tokenizer/sequence_normalizer.hpp"
#include "tokenizer/stream.hpp"
#include "tokenizer/whitespace_segmenter.hpp"
#include "tokenizer/wordpiece.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

template Status tokenize(const SequenceWordLevelTokenizer&, std::string_view, SpecialTokens, void*, const TokenSink&,
                         Tokenized&) noexcept;
template Status tokenize_pair(const SequenceWordLevelTokenizer&, std::string_view, std::string_view, SpecialTokens,
                              void*, const TokenSink&, Tokenized&) noexcept;
template Status open_stream(const SequenceWordLevelTokenizer&, std::string_view, SpecialTokens, void*,
                            TokenStream&) noexcept;
template void read_stream(const SequenceWordLevelTokenizer&, std::uint32_t, std::uint32_t, TokenStream&) noexcept;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
