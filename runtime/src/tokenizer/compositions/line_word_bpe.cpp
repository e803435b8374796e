// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/character_bpe.hpp"
#include "tokenizer/line_word_segmenter.hpp"
#include "tokenizer/no_normalizer.hpp"
#include "tokenizer/pipeline.hpp"
#include "tokenizer/stream.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

template Status tokenize(const LineWordBpeTokenizer&, std::string_view, SpecialTokens, void*, const TokenSink&,
                         Tokenized&) noexcept;
template Status tokenize_pair(const LineWordBpeTokenizer&, std::string_view, std::string_view, SpecialTokens, void*,
                              const TokenSink&, Tokenized&) noexcept;
template Status open_stream(const LineWordBpeTokenizer&, std::string_view, SpecialTokens, void*, TokenStream&) noexcept;
template void read_stream(const LineWordBpeTokenizer&, std::uint32_t, std::uint32_t, TokenStream&) noexcept;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
