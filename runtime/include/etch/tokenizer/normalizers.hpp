// SPDX-License-Identifier: Apache-2.0
// What is done to the characters of a text before it falls into words.
#pragma once

#include <cstdint>

#include "etch/tokenizer/added_tokens.hpp"
#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// The text as it is, but for malformed UTF-8, which reads as U+FFFD.
struct NoNormalizer {};

// As BertNormalizer does it, in this order.
struct BertNormalizer {
    bool clean_text;            // no control characters, every white space a space
    bool handle_chinese_chars;  // spaces around ideographs
    bool strip_accents;         // decomposed, without nonspacing marks
    bool lowercase;
};

// The tables of one of Unicode's normal forms, as codegen/tokenizer/normal_form.py asks the wheel for them.
struct NormalForm {
    // Of an entry: the character's place in canonical order, 0 for starters; whether it composes with one before it;
    // from kTextShift on where in `texts` what it is decomposed to begins, 0: it stays.
    static constexpr std::uint32_t kRankMask = 63;
    static constexpr std::uint32_t kIsSecond = 64;
    static constexpr std::uint32_t kTextShift = 8;

    const std::uint8_t* top;       // [0x110000 >> 8] three stages: a block,
    const std::uint16_t* middle;   // [blocks][16] a leaf,
    const std::uint16_t* leaves;   // [leaves][16] an entry
    const std::uint32_t* entries;  // Hangul syllables have none of their own
    const std::uint8_t* texts;     // each up to a zero
    const std::uint32_t* pairs;    // [pair_count][3] ascending: a character, the one before it, what they compose to
    std::uint32_t pair_count;
    bool composes;
};

// NFC, NFD, NFKC or NFKD.
struct NormalFormNormalizer {
    NormalForm form;
};

// SentencePiece's normalization, in this order: white space at the ends goes, the model's compiled map is applied,
// white space at the ends goes again, and a run of spaces becomes one character.
struct CharsmapNormalizer {
    const std::uint32_t* units;  // the map's double array, of as many units as a search may reach
    const std::uint8_t* texts;   // what its keys become, each up to a zero
    const std::uint8_t* plain;   // [128] what ASCII before more ASCII becomes, in all; 0: it must be looked up
    bool has_map;
    bool strip_left_before;
    bool strip_right_before;
    bool strip_left_after;
    bool strip_right_after;
    std::uint32_t run_content;  // what two spaces or more become, 0 if they stay
};

// SentencePiece's own: at each place the longest key of the compiled map; no spaces at the ends, and one between words.
// What begins with ">>" may be, up to the first "<<", a code, as Marian's names of languages, and a token before that.
struct SentencePieceNormalizer {
    const std::uint32_t* units;  // as of CharsmapNormalizer
    const std::uint8_t* texts;
    const std::uint8_t* plain;  // [128] what ASCII before more ASCII becomes; 0: it must be looked up
    bool has_map;
    AddedTokens codes;          // without flags
    std::int32_t unknown_code;  // of what is none of them; -1: nothing is taken for a code
};

// What becomes of each character by itself: decomposed without accents, in lower case, as codegen/tokenizer/folding.py
// asks the wheel.
struct Folding {
    const std::uint8_t* top;      // [0x110000 >> 8] three stages: a block,
    const std::uint16_t* middle;  // [blocks][16] a leaf,
    const std::uint16_t* leaves;  // [leaves][16] where in `folded` the character's text begins; 0: it stays
    const std::uint8_t* folded;   // texts, each up to a zero
    bool decomposes_hangul;       // syllables become their letters; they are not in the tables
    bool joins_quotes;            // two grave accents, or two apostrophes, become a quotation mark, before all else
};

// That, and nothing else.
struct CharacterNormalizer {
    Folding folding;
};

// That before SentencePiece's normalization.
struct FoldingNormalizer {
    bool joins_spaces;  // two spaces or more become one, before all else
    Folding folding;
    CharsmapNormalizer rest;
};

// White space at the ends of a text goes.
struct StripRule {
    bool left;
    bool right;
};

// Runs of a character become one character.
struct RunRule {
    static constexpr std::uint32_t kWhiteSpace = 0;  // as `of`: any of it

    std::uint32_t of;
    std::uint32_t least;    // 1 or 2 characters are a run; 0: all stay
    std::uint32_t content;  // 0: nothing
};

// Steps in this order, of which any may do nothing: a Folding or a NormalForm does where its `top` is null.
struct SequenceNormalizer {
    StripRule first_strip;
    Folding first_folding;
    RunRule first_run;
    Folding second_folding;
    NormalForm form;
    Folding third_folding;
    StripRule second_strip;
    RunRule second_run;
    Folding last_folding;
    StripRule last_strip;
    const std::uint8_t* plain;  // [128] what ASCII between ASCII becomes, in all; 0: it must be found out
    bool letters_stay;          // those of ASCII between ASCII
};

// A normal form, what becomes of each character of it, if anything, then SentencePiece's normalization.
struct FormCharsmapNormalizer {
    NormalForm form;
    Folding folding;  // null: nothing
    CharsmapNormalizer rest;
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
