// SPDX-License-Identifier: Apache-2.0
// How a normalized text falls into the words that the model sees.
#pragma once

#include <cstdint>

#include "etch/tokenizer/normalizers.hpp"
#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// As BertPreTokenizer does it: white space separates words and is dropped, punctuation is a word of its own.
struct BertSegmenter {};

// What Punctuation does to its characters, by its behaviors.
enum class PunctuationRule : std::uint8_t {
    kept,           // nothing
    isolated,       // each is a word
    contiguous,     // neighbours are a word
    removed,        // each ends a word, and is dropped
    with_previous,  // each is the end of a word
    with_next       // each begins a word
};

// Words between white space, which is dropped. As WhitespaceSplit does it, or as Whitespace does, where what is no word
// character is a word of its own: \w+|[^\w\s]+. Maybe with Punctuation before it or behind it, which is the same.
struct WhitespaceSegmenter {
    bool splits_words;
    bool whole_words;  // are looked up, and never taken apart
    PunctuationRule punctuation;
};

// Words between what Python takes for white space, which is dropped, but for a line feed that ends a word: \S+\n?
struct LineWordSegmenter {};

// Each character is a word, white space too: as Split with [\s\S] isolates them.
struct SingleCharacterSegmenter {};

// As ByteLevel does it, with GPT-2's expression:
//     's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
struct ByteLevelSegmenter {
    bool add_prefix_space;  // before a text, or what follows an added token, that begins with none
};

// The same of what Digits leaves: numbers are split off first.
struct DigitsSegmenter {
    bool add_prefix_space;  // before each part that begins with none
    bool individual;        // each digit alone
};

// As ByteLevel does it behind a Split with cl100k's expression in the form that Llama 3 (3 digits) and Qwen 2 (1) have:
//     (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|
//     \s+(?!\S)|\s+
struct Cl100kSegmenter {
    std::uint32_t most_digits;  // of one word
};

enum class PrependScheme : std::uint8_t {
    never,
    first,   // to the word that begins the text
    always,  // to each
    doubled  // to each, even if it begins with one
};

// As Metaspace does it: spaces are written U+2581, which also may begin what has none, and words begin with it.
struct MetaspaceSegmenter {
    static constexpr std::uint32_t kMetaspace = 0x2581;

    PrependScheme prepend;  // a word is what lies between added tokens where it is `doubled`
    bool split;             // at U+2581; else what lies between added tokens is one word
    bool split_whitespace;  // before that, at white space, which is dropped
};

// Words as they are: what another segmenter makes the parts of a text.
struct WordSegmenter {
    bool add_prefix_space;  // before each that begins with none
    bool whole_words;       // are looked up, and never taken apart: of WordPiece only
};

// Each character is of one class.
struct CharacterClasses {
    static constexpr std::uint32_t kClassBits = 8;

    const std::uint8_t* ascii_classes;  // [128] by scalar
    const std::uint32_t* class_ranges;  // [range_count] ascending: the first scalar of a range << kClassBits | class

    std::uint32_t range_count;  // from U+0080 on or before it
};

// As Whitespace, WhitespaceSplit, BertPreTokenizer, Punctuation, Digits, CharDelimiterSplit, and Split by a character,
// a class or runs of one part a text, in any row: between two characters, by their classes alone. The parts as `Inner`
// does it.
template <class Inner>
struct SplitSegmenter {
    CharacterClasses classes;     // at most 32; of class 0 are characters that are dropped
    const std::uint32_t* parted;  // [classes] by the second one's class a bit for each first one's
    std::uint32_t letter_class;   // of all ASCII letters, which stay together; 0 where they do not
    Inner inner;
};

// As ByteLevel does it behind Splits by expressions, each of which parts what the one before it leaves. The last one
// finds the words; what lies between is a word, too. Automata that codegen/expressions makes; both tables are [states *
// class_count] by the state before a character and its class, and have the state behind it.
struct ExpressionSegmenter {
    static constexpr std::uint32_t kState = 0x3FFF;
    static constexpr std::uint32_t kParted = 0x8000;   // in front_steps: a part ends before the character,
    static constexpr std::uint32_t kDropped = 0x4000;  // which is dropped
    static constexpr std::uint32_t kFound = 0x8000;    // in word_steps: the characters before it are found
    static constexpr std::uint32_t kDead = 0;          // state: no more are
    static constexpr std::uint32_t kStart = 1;         // of a word; of a part it is 0
    static constexpr std::uint32_t kEnd = 0;           // class: no character, but the end of a part

    CharacterClasses classes;
    const std::uint16_t* front_steps;  // of all but the last; null where there is one only
    const std::uint16_t* word_steps;   // of the last one
    std::uint32_t class_count;
};

// English words by Moses' rules, as MosesTokenizer of `sacremoses` does it with its aggressive splits of dashes and its
// escapes.
struct MosesSegmenter {
    // Bits of a class.
    static constexpr std::uint32_t kAlphanumeric = 1;
    static constexpr std::uint32_t kLetter = 2;
    static constexpr std::uint32_t kNumber = 4;
    static constexpr std::uint32_t kLowercase = 8;
    static constexpr std::uint32_t kWhiteSpace = 16;
    static constexpr std::uint32_t kAlone = 32;       // a word of its own wherever it stands
    static constexpr std::uint32_t kPossessive = 64;  // the letter s
    // A longer abbreviation is none of the list.
    static constexpr std::uint32_t kMostBytes = 32;
    static constexpr std::uint8_t kAnywhere = 1;  // in front of the text of an abbreviation
    static constexpr std::uint8_t kBeforeNumber = 2;

    CharacterClasses classes;
    const std::uint8_t* abbreviations;  // behind which a period stays: of each where, and its text up to a zero; a zero
};

enum class MosesLanguage : std::uint8_t { english, french, german, russian };

// Words as XLMTokenizer (English), FlaubertTokenizer (French) and, `kEscapes`, FSMTTokenizer of `transformers` find
// them: punctuation is normalized as MosesPunctNormalizer of `sacremoses` does it, then Moses' rules of the language,
// of the last one with its aggressive splits of dashes and its escapes, of the others without.
template <MosesLanguage kLanguage, bool kEscapes = false>
struct NormalizedMosesSegmenter {
    // More bits, in `kinds`.
    static constexpr std::uint32_t kDigit = 128;
    static constexpr std::uint32_t kControl = 256;  // of any category that begins with C: dropped
    static constexpr std::uint32_t kCased = 512;    // for the small sigma that ends a word,
    static constexpr std::uint32_t kIgnorable = 1024;

    CharacterClasses classes;
    const std::uint16_t* kinds;  // [classes] bits
    const std::uint8_t* abbreviations;
    Folding folding;  // by single characters, but for sigma, of the text, XLMTokenizer's of the words; null: none
};

// As ByteLevel does it behind a Split that leaves what CLIP's expression finds:
//     <\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+
struct ClipSegmenter {
    SplitSegmenter<ByteLevelSegmenter> words;  // without the first two
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
