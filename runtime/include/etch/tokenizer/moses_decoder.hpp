// SPDX-License-Identifier: Apache-2.0
// Words of Moses' rules back to a text.
#pragma once

#include <cstddef>
#include <cstdint>

#include "etch/tokenizer/decoders.hpp"
#include "etch/tokenizer/models.hpp"
#include "etch/tokenizer/segmenters.hpp"
#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// As MosesDetokenizer of `sacremoses` joins them, which BioGptTokenizer and FSMTTokenizer of `transformers` ask: dashes
// between @ join two words, what XML has a meaning for is read back, and whether a space stands before a word depends
// on that word and those before it. A word is written once its rules are decided: of punctuation or quotation marks
// with the next one. Bounded: of a word that begins with more than 28 punctuation marks these are taken for
// all of it, and a word of more than three quotation marks opens, whatever did so before.
struct MosesDecoder {
    // Bits of a class.
    static constexpr std::uint32_t kWhiteSpace = 1;
    static constexpr std::uint32_t kOpens = 2;        // words of these have no space behind them,
    static constexpr std::uint32_t kPunctuation = 4;  // of these none before them
    static constexpr std::uint32_t kQuotes = 8;       // of these one of both in turns
    static constexpr std::uint32_t kLetter = 16;      // English: behind an apostrophe no space before the word
    static constexpr std::uint32_t kEastAsian = 32;   // no space between such

    Decoder pieces;  // `space` ends a word; of the settings no other counts
    CharacterClasses classes;
    bool english;
};

// As decode() of other decoders, with the same state and bounds: what is held is part of a word.
std::size_t decode(const WordPiece& model, const MosesDecoder& decoder, std::int32_t id, bool skip_special,
                   DecoderState& state, char* text, std::size_t capacity) noexcept;
std::size_t decode(const CharacterBpe& model, const MosesDecoder& decoder, std::int32_t id, bool skip_special,
                   DecoderState& state, char* text, std::size_t capacity) noexcept;

// The same of what is left behind the last id.
std::size_t finish_decoding(const MosesDecoder& decoder, DecoderState& state, char* text,
                            std::size_t capacity) noexcept;

// The state behind a text of these ids, with special tokens left out, as it reads where it ends there: what follows
// goes on with it. Of a last word that goes on its rules are done, and what is added to it is written as it is.
DecoderState decoding_behind(const WordPiece& model, const MosesDecoder& decoder, const std::int32_t* ids,
                             std::uint32_t count) noexcept;
DecoderState decoding_behind(const CharacterBpe& model, const MosesDecoder& decoder, const std::int32_t* ids,
                             std::uint32_t count) noexcept;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
