// SPDX-License-Identifier: Apache-2.0
// The tables of the models, which make pieces of words.
#pragma once

#include <cstddef>
#include <cstdint>

#include "etch/tokenizer/trie.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// Greedy longest match from the left; a word with a part that has no piece is unknown as a whole.
struct WordPiece {
    // Three sets of keys: a piece's text as a word begins with it; its text without the prefix; texts that are never
    // looked up. Where words stay whole, the second set is that of the special tokens, which plain text never becomes.
    const std::uint8_t* first_nodes;  // [2][256] by kind (a word's first piece, a later one) and first byte
    Trie trie;
    const std::uint8_t* prefix;  // [prefix_size] "##"

    std::uint32_t initial_end;     // first nodes of words' first pieces end here,
    std::uint32_t continuing_end;  // those of later pieces here,
    std::uint32_t first_end;       // all first nodes here
    std::uint32_t piece_count;     // ids
    std::uint32_t prefix_size;
    std::uint32_t max_word_chars;  // longer words are [UNK]
    std::int32_t unknown_id;
};

// Byte pair encoding over bytes: of all neighbours in a word those of the lowest rank are merged first, the leftmost of
// equals, until none can be.
struct ByteLevelBpe {
    // A longer word is cut behind the last whole character within so many bytes, and each part is a word of its own.
    static constexpr std::uint32_t kMostBytes = 1024;
    static constexpr char kEndOfWord[] = "</w>";

    // Two sets of keys: pieces as bytes; texts that are never looked up. A piece is made by one pair, so that the
    // pair's place among the merges belongs to the piece's key.
    const std::uint16_t* first_nodes;  // [256] by first byte
    Trie trie;
    const std::uint8_t* left_sizes;  // [key_count] bytes of the left one of the pair that makes a piece, 0 for none
    const std::uint8_t* merges;  // [key_count] of `merge_bits` each: twice the rank, 1 more for a piece that is what
                                 // its own text becomes

    std::uint32_t merge_bits;
    std::uint32_t first_end;    // first nodes end here
    std::uint32_t piece_count;  // ids
    bool trim_offsets;          // an offset leaves out the spaces at the ends of its piece,
    bool keep_first_space;      // but for a single one of the text's first piece, as add_prefix_space puts there
    bool marks_ends;            // the piece of a word's last byte ends with kEndOfWord, and all that is made with it
};

// Byte pair encoding over characters, as SentencePiece trains it. A character that is no piece is unknown, and merges
// with none.
struct CharacterBpe {
    // A longer word is cut behind the last whole character within so many bytes, and each part is a word of its own.
    static constexpr std::uint32_t kMostBytes = ByteLevelBpe::kMostBytes;
    // Of each piece: whether it is what its own text becomes; whether it is a special token, which plain text never
    // becomes; whether pairs of pieces spell it that do not make it.
    static constexpr std::uint32_t kMarkBits = 3;
    static constexpr std::uint32_t kWholeMark = 1;
    static constexpr std::uint32_t kSpecialMark = 2;
    static constexpr std::uint32_t kUnmadeMark = 4;
    static constexpr char kGoesOn[] = "@@";
    static constexpr char kEndOfWord[] = "</w>";

    // Two sets of keys: pieces; texts that are never looked up, unless unknown text may be one of them. Nodes that are
    // not there are kNoNode of trie.hpp. Keys whose ids are piece_count or more are pieces without one: they are
    // written as unknown, each by itself. Several pairs may make a piece. SentencePiece's merges, as they are written
    // down, are all pairs of pieces that spell a piece, those of the first ids first: with `ranks_by_id` no pair is
    // stored, and an id is a rank. Which of a piece's pairs comes first never matters: a word has no two of them at
    // once, since merging goes the same way inside equal texts.
    const std::uint32_t* first_nodes;      // [256] by first byte
    const std::uint32_t* metaspace_nodes;  // [256] by the byte behind U+2581, with which most words begin
    Trie trie;
    const std::uint8_t* marks;         // [key_count] of kMarkBits each
    const std::uint8_t* merge_begins;  // [key_count + 1] of `begin_bits` each: where the pairs that make a piece begin
    const std::uint8_t* left_sizes;    // [pairs] bytes of the left one
    const std::uint8_t* merge_ranks;   // [pairs] of `rank_bits` each
    const std::int32_t* byte_ids;      // [256] -1 for bytes that UTF-8 never has; [1] without byte fallback

    std::uint32_t metaspace_node;  // of U+2581
    bool ranks_by_id;
    bool has_unmade;  // pieces of that mark, with `ranks_by_id` only
    std::uint32_t begin_bits;
    std::uint32_t rank_bits;
    std::uint32_t named_begin;  // first nodes from here on are of texts that unknown text may be; first_end: of none
    std::uint32_t first_end;    // first nodes end here
    std::uint32_t piece_count;  // ids
    std::int32_t unknown_id;
    bool byte_fallback;    // an unknown character is written in bytes
    bool fuse_unknown;     // else neighbouring ones are one token
    bool parts_at_spaces;  // no piece has U+2581 behind another character: what lies between is merged by itself
    bool marks_goes_on;    // the piece of a symbol that does not end its word ends with kGoesOn,
    bool marks_ends;       // that of one that does with kEndOfWord
};

// Of all ways to write a word in pieces the one whose scores have the highest sum. A character that is no piece is
// unknown; neighbouring unknown ones are one token.
struct Unigram {
    // So many bytes of a word are held. When they are full, all that the best paths to every place ahead agree on is
    // written; where that is less than kLeastAgreed bytes, the word is cut: what is held becomes a word of its own. So
    // a word is cut only where the paths part for kMostBytes - kLeastAgreed bytes, 1,024, or more.
    static constexpr std::uint32_t kMostBytes = 1280;
    static constexpr std::uint32_t kLeastAgreed = 256;
    // Of each piece: whether it is what its own text becomes; what the bits of its score exceed those of the float by,
    // plus kStepBias; whether it is a special token, which plain text never becomes.
    static constexpr std::uint32_t kMarkBits = 4;
    static constexpr std::uint32_t kWholeMark = 1;
    static constexpr std::uint32_t kStepShift = 1;
    static constexpr std::uint32_t kStepMask = 3;
    static constexpr std::uint32_t kStepBias = 1;
    static constexpr std::uint32_t kSpecialMark = 8;
    // Float sums further below 0 may choose otherwise: then a piece that is what its own text becomes is not passed
    // over.
    static constexpr double kMostWholeSum = 30'000;

    // Two sets of keys: pieces; texts that no path goes through. Nodes that are not there are kNoNode of trie.hpp. Keys
    // whose ids are piece_count or more are pieces without one: they are written as unknown, each by itself.
    const std::uint32_t* first_nodes;      // [256] by first byte
    const std::uint32_t* metaspace_nodes;  // [256] by the byte behind U+2581, with which most words begin
    Trie trie;
    const std::uint32_t* scores;   // [key_count] bits of floats; if wide [2 * key_count], of doubles, low half first
    const std::uint8_t* marks;     // [key_count] of kMarkBits each
    const std::int32_t* byte_ids;  // [256] -1 for a byte that has none; [1] without byte fallback

    bool wide_scores;
    bool float_sums;               // of a text from its beginning or the last added token on, else doubles of a word
    bool byte_fallback;            // unknown text is written in bytes, if each has a piece
    std::uint32_t metaspace_node;  // of U+2581
    std::uint32_t lowest_key;      // the one of the lowest score
    std::uint32_t longest;         // bytes of the longest piece, at most kLeastAgreed
    std::uint32_t named_begin;     // first nodes from here on are of texts that unknown text may be; first_end: of none
    std::uint32_t first_end;       // first nodes end here
    std::uint32_t piece_count;     // ids
    std::int32_t unknown_id;
};

// Each byte of a text is a token: `first_id` is that of the byte 0, the others follow.
struct Bytes {
    Trie trie;  // texts of all ids, for display: none is looked up

    std::uint32_t first_end;    // first nodes end here
    std::uint32_t piece_count;  // ids
    std::int32_t first_id;
};

// Each character of a text is a token, whose id is its code point.
struct CodePoints {
    static constexpr std::uint32_t piece_count = 0x110000;
};

// Bytes of scratch that a model needs for one word.
constexpr std::size_t model_scratch_bytes(const WordPiece& model) noexcept {
    // Per character 4 bytes of text, its end there and its place in the original.
    return (std::size_t{14} * model.max_word_chars + 7) / 8 * 8;
}
constexpr std::size_t model_scratch_bytes(const ByteLevelBpe&) noexcept {
    // Per byte as many, and a symbol's node, that of its pair, the pair's rank and the neighbours; per 32 bytes the
    // lowest rank.
    return std::size_t{30} * ByteLevelBpe::kMostBytes + ByteLevelBpe::kMostBytes / 32 * 4;
}
constexpr std::size_t model_scratch_bytes(const CharacterBpe&) noexcept {
    return model_scratch_bytes(ByteLevelBpe{});
}
constexpr std::size_t model_scratch_bytes(const Unigram&) noexcept {
    // Per byte, and one more place: a sum, the key that ends here, the original's places, where the key begins, itself.
    return (std::size_t{23} * (Unigram::kMostBytes + 8) + 7) / 8 * 8;
}
constexpr std::size_t model_scratch_bytes(const Bytes&) noexcept {
    return 0;
}
constexpr std::size_t model_scratch_bytes(const CodePoints&) noexcept {
    return 0;
}

// The most pieces that one character more can make certain: those of the word that it ends, and a few around it.
constexpr std::uint32_t most_pieces(const WordPiece& model) noexcept {
    return model.max_word_chars + 16;
}
constexpr std::uint32_t most_pieces(const ByteLevelBpe&) noexcept {
    return ByteLevelBpe::kMostBytes + 512;
}
constexpr std::uint32_t most_pieces(const CharacterBpe&) noexcept {
    return CharacterBpe::kMostBytes + 512;
}
constexpr std::uint32_t most_pieces(const Unigram&) noexcept {
    return Unigram::kMostBytes + 16;
}
constexpr std::uint32_t most_pieces(const Bytes&) noexcept {
    return 16;
}
constexpr std::uint32_t most_pieces(const CodePoints&) noexcept {
    return 16;
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
