// SPDX-License-Identifier: Apache-2.0
#include "wordpiece.hpp"

#include <cstring>

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {
namespace {

struct Found {
    std::uint32_t node;  // where the key ends, or kNoNode
    std::uint32_t end;   // of the match in the word's bytes
};

// The longest piece of one of the two kinds that the word has at byte `at`. Pieces are whole characters, and so are
// matches.
Found longest_of_kind(const WordPiece& model, const Word& word, std::uint32_t at, bool continuing) noexcept {
    const std::uint8_t* bytes = word.bytes();
    const std::uint32_t size = word.size();
    Found longest{kNoNode, at};
    std::uint32_t node = find_first(model, continuing, bytes[at]);
    while (node != kNoNode) {
        ++at;
        if (ends_key(model.trie, node)) longest = {node, at};
        if (at == size) break;
        node = find_child(model.trie, node, bytes[at]);
    }
    return longest;
}

// Of both: at a word's beginning a piece that goes on a word is found where the word spells its prefix.
Found longest_piece(const WordPiece& model, const Word& word, std::uint32_t at) noexcept {
    const Found found = longest_of_kind(model, word, at, at != 0);
    const std::uint32_t size = model.prefix_size;
    if (at != 0 || size == 0 || word.size() <= size || word.bytes()[0] != model.prefix[0]) return found;
    if (std::memcmp(word.bytes(), model.prefix, size) != 0) return found;
    const Found spelled = longest_of_kind(model, word, size, true);
    return spelled.node != kNoNode && spelled.end > found.end ? spelled : found;
}

}  // namespace

void write_pieces(const WordPiece& model, const Word& word, TokenWriter& out) noexcept {
    const std::uint32_t count_before = out.count;
    std::uint32_t at = 0;
    for (std::uint32_t first = 0; first < word.chars();) {
        const Found found = word.too_long() ? Found{kNoNode, 0} : longest_piece(model, word, at);
        if (found.node == kNoNode) {
            out.count = count_before;
            out.begin_word();
            out.write(model.unknown_id, word.begin(), word.end());
            return;
        }
        const std::uint32_t last = word.char_ending_at(found.end, first);
        out.write(id_at(model.trie, found.node), word.char_begin(first), word.char_end(last));
        at = found.end;
        first = last + 1;
    }
}

std::int32_t find_word(const WordPiece& model, const Word& word, SpecialTokens mode) noexcept {
    const std::uint8_t* bytes = word.bytes();
    const int kinds = mode == SpecialTokens::plain_text ? 1 : 2;
    for (int kind = 0; kind < kinds && !word.too_long(); ++kind) {
        std::uint32_t node = find_first(model, kind == 1, bytes[0]);
        for (std::uint32_t at = 1; at < word.size() && node != kNoNode; ++at)
            node = find_child(model.trie, node, bytes[at]);
        if (node != kNoNode && ends_key(model.trie, node)) return id_at(model.trie, node);
    }
    return model.unknown_id;
}

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
