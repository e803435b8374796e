// SPDX-License-Identifier: Apache-2.0
// Words to pieces: greedy longest match from the left, over the trie of the vocabulary.
#pragma once

#include <cstdint>

#include "added_tokens.hpp"
#include "cursor.hpp"
#include "etch/tokenizer/models.hpp"
#include "trie.hpp"
#include "word.hpp"
#include "words.hpp"

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

  private:
    const WordPiece& model_;
    SpecialTokens mode_;
    Word word_;
    TokenWriter& out_;
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
