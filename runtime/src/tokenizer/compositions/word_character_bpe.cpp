// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/bert_normalizer.hpp"
#include "tokenizer/character_bpe.hpp"
#include "tokenizer/pipeline.hpp"
#include "tokenizer/split_segmenter.hpp"
#include "tokenizer/stream.hpp"
#include "tokenizer/word_segmenter.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

template Status tokenize(const WordCharacterBpeTokenizer&, std::string_view, SpecialTokens, void*, const TokenSink&,
                         Tokenized&) noexcept;
template Status tokenize_pair(const WordCharacterBpeTokenizer&, std::string_view, std::string_view, SpecialTokens,
                              void*, const TokenSink&, Tokenized&) noexcept;
template Status open_stream(const WordCharacterBpeTokenizer&, std::string_view, SpecialTokens, void*,
                            TokenStream&) noexcept;
template void read_stream(const WordCharacterBpeTokenizer&, std::uint32_t, std::uint32_t, TokenStream&) noexcept;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
