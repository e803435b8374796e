// SPDX-License-Identifier: Apache-2.0
// Which tokens of a text begin a word and which go on one, as the token classification pipeline of `transformers` finds
// it (TokenClassificationPipeline.gather_pre_entities).
#pragma once

#include <cstdint>
#include <string_view>

#include "etch/tokenizer.hpp"
#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

enum class TokenMark : std::uint8_t { begins_word, goes_on, special };

// A text's tokens.
struct MarkedTokens {
    const std::int32_t* ids;  // [count]
    TokenOffset* offsets;     // [count] bytes of the text
    TokenMark* marks;         // [count]
    std::uint32_t count;
};

// Of a piece in the table of characters: its text has so many characters, kMostCharacters for more.
constexpr std::uint8_t kMostCharacters = 0x7F;
constexpr std::uint8_t kContinuingPiece = 0x80;  // besides: it begins with the prefix of pieces that go on a word

// Writes the marks of a text's tokens from their offsets; malformed UTF-8 counts as U+FFFD. Tokens of the template that
// lie nowhere in the text are special. Another goes on a word
//   of WordPiece: where its piece has another number of characters than its text, the prefix "##" counted. `characters`
//     is [rows of the word embedding]
//   of other models, and of whole words, where `characters` is null: where neither its first byte nor the one before
//     is a space
// An unknown token never does.
void mark_words(const WordPiece& model, const Template& parts, const std::uint8_t* characters, std::string_view text,
                const MarkedTokens& tokens) noexcept;
void mark_words(const ByteLevelBpe& model, const Template& parts, const std::uint8_t* characters, std::string_view text,
                const MarkedTokens& tokens) noexcept;
void mark_words(const CharacterBpe& model, const Template& parts, const std::uint8_t* characters, std::string_view text,
                const MarkedTokens& tokens) noexcept;
void mark_words(const Bytes& model, const Template& parts, const std::uint8_t* characters, std::string_view text,
                const MarkedTokens& tokens) noexcept;
void mark_words(const CodePoints& model, const Template& parts, const std::uint8_t* characters, std::string_view text,
                const MarkedTokens& tokens) noexcept;
void mark_words(const Unigram& model, const Template& parts, const std::uint8_t* characters, std::string_view text,
                const MarkedTokens& tokens) noexcept;

// The same of token ids without a text, each a row of the word embedding: those of the template are special, pieces of
// WordPiece that have the prefix go on a word; where `characters` is null, none does. Offsets become the tokens' own
// numbers, [i, i + 1) of token i.
void mark_ids(const Template& parts, const std::uint8_t* characters, const MarkedTokens& tokens) noexcept;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
