// SPDX-License-Identifier: Apache-2.0
// How a normalized text falls into the words that the model sees.
#pragma once

#include <cstdint>

#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// As BertPreTokenizer does it: white space separates words and is dropped, punctuation is a word of its own.
struct BertSegmenter {};

// Words between white space, which is dropped. As WhitespaceSplit does it, or as Whitespace does, where what is no word
// character is a word of its own: \w+|[^\w\s]+
struct WhitespaceSegmenter {
    bool splits_words;
};

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

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
