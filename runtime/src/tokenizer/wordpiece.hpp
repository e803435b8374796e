// SPDX-License-Identifier: Apache-2.0
// Words to pieces: greedy longest match from the left, over a perfect hash of the vocabulary.
#pragma once

#include <cstdint>
#include <cstring>

#include "etch/tokenizer.hpp"
#include "word.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

constexpr std::int32_t kNoPiece = -1;

// The hash state after one more byte. As in codegen/tokenizer/perfect_hash.py, like the rest of the hash.
inline std::uint64_t hash_step(std::uint64_t state, std::uint8_t byte) noexcept {
    return (state ^ byte) * 0x9E3779B97F4A7C15ULL;
}

// `word * size >> 32`: maps 32 bits evenly to [0, size) without a division.
inline std::uint32_t reduce(std::uint32_t word, std::uint32_t size) noexcept {
    return static_cast<std::uint32_t>((std::uint64_t{word} * size) >> 32);
}

inline std::string_view text_of(const WordPiece& tables, std::uint32_t id) noexcept {
    constexpr std::uint32_t kBlockBits = 6;
    const std::uint32_t begin = tables.piece_bases[id >> kBlockBits] + tables.piece_offsets[id];
    const std::uint32_t end = tables.piece_bases[(id + 1) >> kBlockBits] + tables.piece_offsets[id + 1];
    return {reinterpret_cast<const char*>(tables.piece_text) + begin, end - begin};
}

// The piece with this key, whose hash state is `state`, or kNoPiece. `prefix_size` is 0 for a word's first piece.
inline std::int32_t find_piece(const WordPiece& tables, std::uint64_t state, const std::uint8_t* key,
                               std::uint32_t size, std::uint32_t prefix_size) noexcept {
    const auto high = static_cast<std::uint32_t>(state >> 32);
    const std::uint32_t displacement = tables.displacements[reduce(high, tables.bucket_count)];
    const auto low = static_cast<std::uint32_t>(state ^ (state >> 32));
    const std::uint32_t mixed = (low ^ (displacement * 0x85EBCA6BU)) * 0xC2B2AE35U;
    const std::uint32_t slot = reduce(mixed, tables.slot_count);
    if (tables.fingerprints[slot] != static_cast<std::uint8_t>(high)) return kNoPiece;
    const std::uint32_t id = tables.slot_ids16 != nullptr ? tables.slot_ids16[slot] : tables.slot_ids32[slot];
    const std::string_view text = text_of(tables, id);
    if (text.size() != prefix_size + size) return kNoPiece;
    if (std::memcmp(text.data(), tables.prefix, prefix_size) != 0) return kNoPiece;
    if (std::memcmp(text.data() + prefix_size, key, size) != 0) return kNoPiece;
    return static_cast<std::int32_t>(id);
}

// Writes the pieces of a word that is not empty: [UNK] alone if it is too long or any part of it has no piece.
void write_pieces(const WordPiece& tables, const Word& word, TokenWriter& out) noexcept;

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
