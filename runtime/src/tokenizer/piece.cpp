// SPDX-License-Identifier: Apache-2.0
// From an id back to its text, which is what tokens are displayed with: slow and small, every key is looked at.
#include "etch/tokenizer.hpp"
#include "etch/tokenizer/utf8.hpp"
#include "models/key_text.hpp"
#include "models/trie.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

using namespace tokenizer;

std::size_t text_of(const Trie& trie, const Roots& roots, std::int32_t id, char* text, std::size_t capacity) noexcept {
    for (std::uint32_t rank = 0; rank < trie.key_count; ++rank) {
        if (id_of_key(trie, rank) == id) return text_of_key(trie, roots, rank, text, capacity);
    }
    return 0;
}

}  // namespace

std::size_t piece(const WordPiece& model, std::int32_t id, char* text, std::size_t capacity) noexcept {
    return text_of(model.trie, roots_of(model), id, text, capacity);
}

std::size_t piece(const ByteLevelBpe& model, std::int32_t id, char* text, std::size_t capacity) noexcept {
    return text_of(model.trie, roots_of(model), id, text, capacity);
}

std::size_t piece(const CharacterBpe& model, std::int32_t id, char* text, std::size_t capacity) noexcept {
    return text_of(model.trie, roots_of(model), id, text, capacity);
}

std::size_t piece(const Unigram& model, std::int32_t id, char* text, std::size_t capacity) noexcept {
    return text_of(model.trie, roots_of(model), id, text, capacity);
}

std::size_t piece(const Bytes& model, std::int32_t id, char* text, std::size_t capacity) noexcept {
    return text_of(model.trie, roots_of(model), id, text, capacity);
}

// Of what is no scalar nothing.
std::size_t piece(const CodePoints&, std::int32_t id, char* text, std::size_t capacity) noexcept {
    const auto scalar = static_cast<std::uint32_t>(id);
    if (scalar >= CodePoints::piece_count || (scalar >= 0xD800 && scalar < 0xE000)) return 0;
    std::uint8_t bytes[kMaxUtf8Bytes];
    const std::uint32_t size = encode(scalar, bytes);
    for (std::uint32_t i = 0; i < size && i < capacity; ++i)
        text[i] = static_cast<char>(bytes[i]);
    return size;
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
