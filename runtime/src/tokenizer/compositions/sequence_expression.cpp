// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/byte_level_bpe.hpp"
#include "tokenizer/expression_segmenter.hpp"
#include "tokenizer/pipeline.hpp"
#include "tokenizer/sequence_normalizer.hpp"
#include "tokenizer/stream.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

template Status tokenize(const SequenceExpressionBpeTokenizer&, std::string_view, SpecialTokens, void*,
                         const TokenSink&, Tokenized&) noexcept;
template Status tokenize_pair(const SequenceExpressionBpeTokenizer&, std::string_view, std::string_view, SpecialTokens,
                              void*, const TokenSink&, Tokenized&) noexcept;
template Status open_stream(const SequenceExpressionBpeTokenizer&, std::string_view, SpecialTokens, void*,
                            TokenStream&) noexcept;
template void read_stream(const SequenceExpressionBpeTokenizer&, std::uint32_t, std::uint32_t, TokenStream&) noexcept;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
