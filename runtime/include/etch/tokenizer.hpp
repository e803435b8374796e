// SPDX-License-Identifier: Apache-2.0
// Text to token ids, as Hugging Face's `tokenizers` does it: same ids, same offsets; of the models of Marian and
// M2M-100 as `sentencepiece` does it, same ids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "etch/status.hpp"
#include "etch/tokenizer/added_tokens.hpp"
#include "etch/tokenizer/decoders.hpp"
#include "etch/tokenizer/models.hpp"
#include "etch/tokenizer/normalizers.hpp"
#include "etch/tokenizer/segmenters.hpp"
#include "etch/tokenizer/template.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// How special tokens typed by a user, such as "[SEP]", are read.
enum class SpecialTokens : std::uint8_t {
    recognized,  // "[SEP]" becomes the [SEP] id: what Hugging Face does, and the default
    plain_text,  // special tokens are ordinary text: safe for untrusted input
    in_text,     // recognized, and a text has all that it needs: the template writes none around one. Pairs have it
};

// Bytes [begin, end) of the original text that a token came from; [0, 0) for tokens added by the template.
struct TokenOffset {
    std::uint32_t begin;
    std::uint32_t end;
};

inline constexpr std::size_t kLongestText = 0xFFFFFFFE;  // bytes: positions and counts are 32-bit

// Where tokenization writes. Arrays of `capacity` elements owned by the caller, not aliasing each other.
struct TokenSink {
    std::int32_t* ids;
    std::uint8_t* segments;  // as the template says: mostly 0 for the first text, 1 for the second
    TokenOffset* offsets;    // may be null
    std::uint32_t capacity;  // with no room for the template's special tokens and padding nothing is written
};

struct Tokenized {
    std::uint32_t count;    // tokens written, specials and padding included
    bool truncated;         // the text had more tokens than fit
    bool cut_word = false;  // a word was longer than its model takes, and was cut as the model says
};

// A tokenizer is composed of parts, each a struct of const tables and settings that codegen/tokenizer makes; nothing is
// owned or computed at run time. What a program links follows from the types: a generated model's NAME_tokenizer.cpp
// makes the functions below for its own, of the parts in src/tokenizer/composition.hpp.
template <class NormalizerPart, class SegmenterPart, class ModelPart>
struct Tokenizer {
    using Normalizer = NormalizerPart;
    using Segmenter = SegmenterPart;
    using Model = ModelPart;

    AddedTokens raw_tokens;         // matched on the raw text
    AddedTokens normalized_tokens;  // matched on the normalized text
    NormalizerPart normalizer;
    SegmenterPart segmenter;
    ModelPart model;
    Template parts;
};

using BertTokenizer = Tokenizer<BertNormalizer, BertSegmenter, WordPiece>;

// Bytes of scratch memory for one call, which hold a word and its pieces: any content, aligned to 8 bytes.
template <class Tables>
constexpr std::size_t tokenizer_scratch_bytes(const Tables& tables) noexcept {
    return model_scratch_bytes(tables.model);
}

// A text between the special tokens of the template, or without them, as the mode says. Reads no further than can
// matter: an endless text costs no more than one that just does not fit. `text` may hold any bytes: what is not UTF-8
// reads as U+FFFD. `scratch` holds tokenizer_scratch_bytes. Offsets count bytes of `text`. text_too_long for more than
// kLongestText of them: then `result` counts no tokens.
template <class Tables>
Status tokenize(const Tables& tables, std::string_view text, SpecialTokens mode, void* scratch, const TokenSink& sink,
                Tokenized& result) noexcept;

// Two texts in the template of pairs, cut to the capacity longest-first, or the first one only where the template says
// so. Offsets count bytes of their own text. Both are read to their ends, and where the first one is cut the second one
// again. text_too_long as above; hypothesis_too_long where only the first text is cut and no token of it would be left:
// then `result` counts no tokens, and what the arrays hold is of no use.
template <class Tables>
Status tokenize_pair(const Tables& tables, std::string_view first, std::string_view second, SpecialTokens mode,
                     void* scratch, const TokenSink& sink, Tokenized& result) noexcept;

// A text that is read some tokens at a time, in memory that does not grow with it. The text, `scratch` as for
// tokenize() and the arrays stay the caller's; they and the stream stay where they are.
struct TokenStream {
    static constexpr std::size_t kStateBytes = 1792;

    std::int32_t* ids;     // [capacity] of the tokens that are there
    TokenOffset* offsets;  // [capacity] bytes of the text
    std::uint8_t* begins;  // [capacity] 1: the first token of its word, as the segmenter finds words; 0: goes on it
    std::uint32_t capacity;
    std::uint32_t count;                         // tokens that are there
    bool more;                                   // there are more behind them
    alignas(8) std::uint8_t state[kStateBytes];  // between two calls
};

// Begins to read; the members up to `capacity` are set. text_too_long as above: then nothing may be read.
template <class Tables>
Status open_stream(const Tables& tables, std::string_view text, SpecialTokens mode, void* scratch,
                   TokenStream& stream) noexcept;

// Forgets the first `drop` of the tokens that are there and reads on until `wanted` are and `more` is certain, or the
// text ends: where there are no more, there are at most `wanted`. `capacity` is at least wanted + 1 + most_pieces().
template <class Tables>
void read_stream(const Tables& tables, std::uint32_t drop, std::uint32_t wanted, TokenStream& stream) noexcept;

// Writes the text of a piece, "##" included, or as much of its beginning as fits into `capacity` bytes; nothing follows
// it. Returns the size of the whole text: 0 for an id that has none. For display: it searches, in microseconds.
std::size_t piece(const WordPiece& model, std::int32_t id, char* text, std::size_t capacity) noexcept;
std::size_t piece(const ByteLevelBpe& model, std::int32_t id, char* text, std::size_t capacity) noexcept;
std::size_t piece(const CharacterBpe& model, std::int32_t id, char* text, std::size_t capacity) noexcept;
std::size_t piece(const Unigram& model, std::int32_t id, char* text, std::size_t capacity) noexcept;
std::size_t piece(const Bytes& model, std::int32_t id, char* text, std::size_t capacity) noexcept;
std::size_t piece(const CodePoints& model, std::int32_t id, char* text, std::size_t capacity) noexcept;

template <class Tables>
std::size_t piece(const Tables& tables, std::int32_t id, char* text, std::size_t capacity) noexcept {
    return piece(tables.model, id, text, capacity);
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
