// SPDX-License-Identifier: Apache-2.0
// Words to pieces: greedy longest match from the left, over the trie of the vocabulary.
#pragma once

#include <cstdint>
#include <cstring>

#include "../added_tokens.hpp"
#include "../cursor.hpp"
#include "../word.hpp"
#include "../words.hpp"
#include "etch/tokenizer/models.hpp"
#include "trie.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

// The node of a word's first byte, or of a later piece's.
inline std::uint32_t find_first(const WordPiece& model, bool continuing, std::uint8_t byte) noexcept {
    const std::uint8_t node = model.first_nodes[(continuing ? 256U : 0U) + byte];
    if (node == kNoFirstNode) return kNoNode;
    return continuing ? model.initial_end + node : node;
}

// The piece that is this ASCII character at the start of a word, or kNoPiece.
inline std::int32_t find_character(const WordPiece& model, std::uint8_t byte) noexcept {
    const std::uint32_t node = find_first(model, false, byte);
    return node != kNoNode && ends_key(model.trie, node) ? id_at(model.trie, node) : kNoPiece;
}

// Writes the pieces of a word that is not empty: [UNK] alone if it is too long or any part of it has no piece.
void write_pieces(const WordPiece& model, const Word& word, TokenWriter& out) noexcept;

// The piece that is a whole word, which is not empty, or [UNK]. Here later pieces are words, too: those of special
// tokens, which plain text never becomes.
std::int32_t find_word(const WordPiece& model, const Word& word, SpecialTokens mode) noexcept;

// The node that these bytes lead to from `node`, or kNoNode.
inline std::uint32_t follow(const WordPiece& model, std::uint32_t node, const std::uint8_t* bytes, std::uint32_t at,
                            std::uint32_t size) noexcept {
    for (; at < size && node != kNoNode; ++at)
        node = find_child(model.trie, node, bytes[at]);
    return node;
}

constexpr std::uint32_t kShortWord = 16;

struct TwoNodes {
    std::uint32_t first;
    std::uint32_t second;
};

template <>
class Words<WordPiece> {
  public:
    Words(const WordPiece& model, SpecialTokens mode, void* scratch, TokenWriter& out) noexcept
        : model_(model), mode_(mode), word_(scratch, model.max_word_chars), out_(out) {}

    bool empty() const noexcept { return word_.empty(); }
    bool one_more_is_certain() const noexcept { return word_.too_long(); }
    void append(const Unit& unit) noexcept { word_.append(unit.scalar, unit.begin, unit.end); }
    void end() noexcept {
        if (word_.empty()) return;
        out_.begin_word();
        write_pieces(model_, word_, out_);
        word_.clear();
    }
    // For a segmenter whose words are not taken apart.
    void end_whole() noexcept {
        if (word_.empty()) return;
        out_.begin_word();
        out_.write(find_word(model_, word_, mode_), word_.begin(), word_.end());
        word_.clear();
    }

    void write_token(const TokenMatch& match) noexcept {
        out_.begin_word();
        out_.write(match.id, match.begin, match.end);
    }

    // For a segmenter that fills in ASCII by itself.
    Word& word() noexcept { return word_; }
    std::uint32_t max_chars() const noexcept { return model_.max_word_chars; }
    void write_character(std::uint8_t byte, std::uint32_t at) noexcept {
        const std::int32_t id = model_.max_word_chars == 0 ? kNoPiece : find_character(model_, byte);
        out_.begin_word();
        out_.write(id == kNoPiece ? model_.unknown_id : id, at, at + 1);
    }

    // Short words in ASCII, normalized, which the segmenter keeps: the nodes where they end as a whole, or kNoNode.
    std::uint32_t find(const std::uint8_t* bytes, std::uint32_t size) const noexcept {
        return follow(model_, find_first(model_, false, bytes[0]), bytes, 1, size);
    }
    // In turns: every byte of a word waits for the one before it, but not for those of another word.
    TwoNodes find_two(const std::uint8_t* a, std::uint32_t a_size, const std::uint8_t* b,
                      std::uint32_t b_size) const noexcept {
        TwoNodes nodes{find_first(model_, false, a[0]), find_first(model_, false, b[0])};
        const std::uint32_t both = a_size < b_size ? a_size : b_size;
        std::uint32_t at = 1;
        for (; at < both && nodes.first != kNoNode && nodes.second != kNoNode; ++at) {
            nodes.first = find_child(model_.trie, nodes.first, a[at]);
            nodes.second = find_child(model_.trie, nodes.second, b[at]);
        }
        nodes.first = follow(model_, nodes.first, a, at, a_size);
        nodes.second = follow(model_, nodes.second, b, at, b_size);
        return nodes;
    }
    // Such a word, of kShortWord bytes with what lies behind it; max_chars() is no less.
    void write_short(const std::uint8_t* bytes, std::uint32_t node, std::uint32_t begin, std::uint32_t end) noexcept {
        if (node != kNoNode && ends_key(model_.trie, node)) {
            out_.begin_word();
            out_.write(id_at(model_.trie, node), begin, end);
            return;
        }
        std::memcpy(word_.ascii_room(), bytes, kShortWord);
        word_.set_ascii(begin, end - begin);
        this->end();
    }

  private:
    const WordPiece& model_;
    SpecialTokens mode_;
    Word word_;
    TokenWriter& out_;
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
