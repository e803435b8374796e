// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/character_bpe.hpp"
#include "tokenizer/metaspace_segmenter.hpp"
#include "tokenizer/pipeline.hpp"
#include "tokenizer/sentencepiece_normalizer.hpp"
#include "tokenizer/stream.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

template Status tokenize(const SentencePieceBpeTokenizer&, std::string_view, SpecialTokens, void*, const TokenSink&,
                         Tokenized&) noexcept;
template Status tokenize_pair(const SentencePieceBpeTokenizer&, std::string_view, std::string_view, SpecialTokens,
                              void*, const TokenSink&, Tokenized&) noexcept;
template Status open_stream(const SentencePieceBpeTokenizer&, std::string_view, SpecialTokens, void*,
                            TokenStream&) noexcept;
template void read_stream(const SentencePieceBpeTokenizer&, std::uint32_t, std::uint32_t, TokenStream&) noexcept;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
