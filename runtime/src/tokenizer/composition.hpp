// SPDX-License-Identifier: Apache-2.0
// What a model makes of its tokenizer's parts, in NAME_tokenizer.cpp: a program has the code of those that its models
// name.
#pragma once

#include <cstdint>
#include <string_view>

#include "etch/tokenizer.hpp"
#include "tokenizer/models/byte_level_bpe.hpp"
#include "tokenizer/models/bytes.hpp"
#include "tokenizer/models/character_bpe.hpp"
#include "tokenizer/models/code_points.hpp"
#include "tokenizer/models/unigram.hpp"
#include "tokenizer/models/wordpiece.hpp"
#include "tokenizer/normalizers/bert_normalizer.hpp"
#include "tokenizer/normalizers/character_normalizer.hpp"
#include "tokenizer/normalizers/charsmap_normalizer.hpp"
#include "tokenizer/normalizers/folding_normalizer.hpp"
#include "tokenizer/normalizers/form_charsmap_normalizer.hpp"
#include "tokenizer/normalizers/no_normalizer.hpp"
#include "tokenizer/normalizers/normal_form_normalizer.hpp"
#include "tokenizer/normalizers/sentencepiece_normalizer.hpp"
#include "tokenizer/normalizers/sequence_normalizer.hpp"
#include "tokenizer/pipeline.hpp"
#include "tokenizer/segmenters/bert_segmenter.hpp"
#include "tokenizer/segmenters/byte_level_segmenter.hpp"
#include "tokenizer/segmenters/cl100k_segmenter.hpp"
#include "tokenizer/segmenters/clip_segmenter.hpp"
#include "tokenizer/segmenters/digits_segmenter.hpp"
#include "tokenizer/segmenters/expression_segmenter.hpp"
#include "tokenizer/segmenters/line_word_segmenter.hpp"
#include "tokenizer/segmenters/metaspace_segmenter.hpp"
#include "tokenizer/segmenters/moses_segmenter.hpp"
#include "tokenizer/segmenters/normalized_moses_segmenter.hpp"
#include "tokenizer/segmenters/single_character_segmenter.hpp"
#include "tokenizer/segmenters/split_segmenter.hpp"
#include "tokenizer/segmenters/whitespace_segmenter.hpp"
#include "tokenizer/segmenters/word_segmenter.hpp"
#include "tokenizer/stream.hpp"

// ETCH_COMPOSITION(Tokenizer<Normalizer, Segmenter, Model>): the public functions, once for these tables. Two models of
// a program may have the same: the linker keeps one.
#define ETCH_COMPOSITION(...)                                                                                       \
    namespace etch {                                                                                                \
    inline namespace ETCH_ABI_NAMESPACE {                                                                           \
    template Status tokenize(const __VA_ARGS__&, std::string_view, SpecialTokens, void*, const TokenSink&,          \
                             Tokenized&) noexcept;                                                                  \
    template Status tokenize_pair(const __VA_ARGS__&, std::string_view, std::string_view, SpecialTokens, void*,     \
                                  const TokenSink&, Tokenized&) noexcept;                                           \
    template Status open_stream(const __VA_ARGS__&, std::string_view, SpecialTokens, void*, TokenStream&) noexcept; \
    template void read_stream(const __VA_ARGS__&, std::uint32_t, std::uint32_t, TokenStream&) noexcept;             \
    }                                                                                                               \
    }
