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
    // Text of each id. An offset is its block's base plus 16 bits: half the size of 32-bit offsets.
    const std::uint8_t* piece_text;
    const std::uint32_t* piece_bases;    // [piece_count / 64 + 1]
    const std::uint16_t* piece_offsets;  // [piece_count + 1]

    // Perfect hash of the pieces: a key's bucket gives a displacement, which gives the only slot that can hold the key.
    const std::uint16_t* displacements;  // [bucket_count]
    const std::uint8_t* fingerprints;    // [slot_count] eight bits of the hash: most misses end here
    const std::uint16_t* slot_ids16;     // [slot_count] the id in each slot; null where ids need 32 bits
    const std::uint32_t* slot_ids32;     // [slot_count] null where 16 bits suffice
    const std::uint8_t* reach;           // [1 << reach_bits] by hash of the first two bytes: longest piece in bytes
    const std::uint8_t* prefix;          // [prefix_size] "##"

    AddedTokens raw_tokens;         // matched on the raw text
    AddedTokens normalized_tokens;  // matched on the normalized text

    std::uint64_t initial_seed;     // hash state before a word's first piece
    std::uint64_t continuing_seed;  // and before the later ones

    std::uint32_t piece_count;
    std::uint32_t bucket_count;
    std::uint32_t slot_count;
    std::uint32_t reach_bits;
    std::uint32_t prefix_size;
    std::uint32_t max_piece_bytes;  // longest piece that can match, without its prefix
    std::uint32_t max_word_chars;   // longer words are [UNK]

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
constexpr std::size_t tokenizer_scratch_bytes(std::uint32_t max_word_chars, std::uint32_t max_piece_bytes) {
    // Per character 4 bytes of text, its end there and its place in the original; per piece byte a hash state.
    return (std::size_t{14} * max_word_chars + std::size_t{8} * max_piece_bytes + 7) / 8 * 8;
}

// [CLS] text [SEP]. Reads no further than can matter: an endless text costs no more than one that just does not fit.
// `scratch` holds tokenizer_scratch_bytes of the tables' constants. Offsets count bytes of `text`.
Status tokenize(const WordPiece& tables, std::string_view text, SpecialTokens mode, void* scratch,
                const TokenSink& sink, Tokenized& result) noexcept;

// [CLS] first [SEP] second [SEP], cut longest-first to the capacity. Offsets count bytes of their own text.
Status tokenize_pair(const WordPiece& tables, std::string_view first, std::string_view second, SpecialTokens mode,
                     void* scratch, const TokenSink& sink, Tokenized& result) noexcept;

// The text of a piece, "##" included; empty for an id that has none.
std::string_view piece(const WordPiece& tables, std::int32_t id) noexcept;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
