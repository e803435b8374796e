// SPDX-License-Identifier: Apache-2.0
// From a key of a trie back to its text: the trie read upwards.
#pragma once

#include <cstddef>
#include <cstdint>

#include "etch/tokenizer/models.hpp"
#include "etch/tokenizer/trie.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

// Where the keys of a trie begin, and what stands before those of some.
struct Roots {
    std::uint32_t first_end;     // first nodes end here;
    std::uint32_t prefix_begin;  // keys below these of them have a prefix
    std::uint32_t prefix_end;
    const std::uint8_t* prefix;
    std::uint32_t prefix_size;
};

inline Roots roots_of(const WordPiece& model) noexcept {
    return {model.first_end, model.initial_end, model.continuing_end, model.prefix, model.prefix_size};
}
inline Roots roots_of(const ByteLevelBpe& model) noexcept {
    return {model.first_end, 0, 0, nullptr, 0};
}
inline Roots roots_of(const CharacterBpe& model) noexcept {
    return {model.first_end, 0, 0, nullptr, 0};
}
inline Roots roots_of(const Unigram& model) noexcept {
    return {model.first_end, 0, 0, nullptr, 0};
}
inline Roots roots_of(const Bytes& model) noexcept {
    return {model.first_end, 0, 0, nullptr, 0};
}

// Writes the bytes of the key of this rank, its prefix included, as many as fit from the first one on; returns the size
// of all.
std::size_t text_of_key(const Trie& trie, const Roots& roots, std::uint32_t rank, char* text,
                        std::size_t capacity) noexcept;

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
