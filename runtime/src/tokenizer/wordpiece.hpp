// SPDX-License-Identifier: Apache-2.0
// Words to pieces: greedy longest match from the left, over the trie of the vocabulary.
#pragma once

#include <cstdint>

#include "etch/tokenizer.hpp"
#include "trie.hpp"
#include "word.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

// The piece that is this ASCII character at the start of a word, or kNoPiece.
inline std::int32_t find_character(const WordPiece& tables, std::uint8_t byte) noexcept {
    const std::uint32_t node = find_first(tables, false, byte);
    return node != kNoNode && ends_key(tables, node) ? id_at(tables, node) : kNoPiece;
}

// Writes the pieces of a word that is not empty: [UNK] alone if it is too long or any part of it has no piece.
void write_pieces(const WordPiece& tables, const Word& word, TokenWriter& out) noexcept;

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
