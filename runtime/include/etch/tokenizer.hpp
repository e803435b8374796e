// SPDX-License-Identifier: Apache-2.0
// Text to token ids, as Hugging Face's BertTokenizerFast does it: same ids, same offsets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "etch/status.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// How special tokens typed by a user, such as "[SEP]", are read.
enum class SpecialTokens : std::uint8_t {
    recognized,  // "[SEP]" becomes the [SEP] id: what Hugging Face does, and the default
    plain_text,  // special tokens are ordinary text: safe for untrusted input
};

// Bytes [begin, end) of the original text that a token came from; [0, 0) for tokens added by the template.
struct TokenOffset {
    std::uint32_t begin;
    std::uint32_t end;
};

// Where tokenization writes. Arrays of `capacity` elements owned by the caller, not aliasing each other.
struct TokenSink {
    std::int32_t* ids;
    std::uint8_t* segments;  // 0 for the first text, 1 for the second
    TokenOffset* offsets;    // may be null
    std::uint32_t capacity;  // at least 2, at least 3 for pairs; with less nothing is written
};

struct Tokenized {
    std::uint32_t count;  // tokens written, specials included
    bool truncated;       // the text had more tokens than fit
};

// Tokens matched as a whole, before WordPiece sees the text. Contents are in ascending byte order, so that the longest
// match is found by narrowing a range byte by byte, whatever their number.
struct AddedTokens {
    static constexpr std::uint8_t kSpecial = 1;     // ordinary text under SpecialTokens::plain_text
    static constexpr std::uint8_t kSingleWord = 2;  // not beside a word character
    static constexpr std::uint8_t kLeftStrip = 4;   // swallows the white space before it
    static constexpr std::uint8_t kRightStrip = 8;  // swallows the white space after it

    const std::uint8_t* text;          // the contents, one after the other
    const std::uint32_t* begins;       // [count + 1] where each content begins in `text`
    const std::int32_t* ids;           // [count]
    const std::uint8_t* flags;         // [count]
    const std::uint32_t* first_bytes;  // [8] bit set of the bytes that a content can begin with
    std::uint32_t count;
};

// The const tables of one WordPiece tokenizer, made by codegen/tokenizer. Nothing is owned or computed at run time.
struct WordPiece {
    // A trie of the pieces, in three sets of keys: a piece's text as a word begins with it; its text without the
    // prefix; texts that are never looked up. src/tokenizer/trie.hpp says how nodes are laid out.
    const std::uint8_t* first_nodes;  // [2][256] by kind (a word's first piece, a later one) and first byte
    const std::uint8_t* labels;       // [nodes + 16] the byte that leads to each node
    const std::uint32_t* blocks;      // [block_count][4]
    const std::uint32_t* ranks;       // [block_count / 4096, rounded up] keys that end before each so many blocks
    const std::uint8_t* packed_ids;   // [key_count] of `id_bits` each, in the order of the keys' nodes
    const std::uint8_t* prefix;       // [prefix_size] "##"

    AddedTokens raw_tokens;         // matched on the raw text
    AddedTokens normalized_tokens;  // matched on the normalized text

    std::uint32_t block_count;
    std::uint32_t key_count;
    std::uint32_t id_bits;
    std::uint32_t initial_end;     // first nodes of words' first pieces end here,
    std::uint32_t continuing_end;  // those of later pieces here,
    std::uint32_t first_end;       // all first nodes here
    std::uint32_t piece_count;     // ids
    std::uint32_t prefix_size;
    std::uint32_t max_word_chars;  // longer words are [UNK]

    std::int32_t unknown_id;
    std::int32_t classify_id;
    std::int32_t separate_id;

    bool clean_text;
    bool handle_chinese_chars;
    bool strip_accents;
    bool lowercase;
};

// Scratch memory for one call: one word. Any content, any alignment of 8 bytes or more.
constexpr std::size_t kTokenizerScratchAlignment = 8;
constexpr std::size_t tokenizer_scratch_bytes(std::uint32_t max_word_chars) {
    // Per character 4 bytes of text, its end there and its place in the original.
    return (std::size_t{14} * max_word_chars + 7) / 8 * 8;
}

// [CLS] text [SEP]. Reads no further than can matter: an endless text costs no more than one that just does not fit.
// `scratch` holds tokenizer_scratch_bytes of the tables' constant. Offsets count bytes of `text`.
Status tokenize(const WordPiece& tables, std::string_view text, SpecialTokens mode, void* scratch,
                const TokenSink& sink, Tokenized& result) noexcept;

// [CLS] first [SEP] second [SEP], cut longest-first to the capacity. Offsets count bytes of their own text.
Status tokenize_pair(const WordPiece& tables, std::string_view first, std::string_view second, SpecialTokens mode,
                     void* scratch, const TokenSink& sink, Tokenized& result) noexcept;

// Writes the text of a piece, "##" included, or as much of its beginning as fits into `capacity` bytes; nothing follows
// it. Returns the size of the whole text: 0 for an id that has none. For display: it searches, in microseconds.
std::size_t piece(const WordPiece& tables, std::int32_t id, char* text, std::size_t capacity) noexcept;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
