// SPDX-License-Identifier: Apache-2.0
#include "byte_level_bpe.hpp"

#include "../unicode/utf8.hpp"
#include "trie.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

// Most words are one piece, and most pieces are what merging makes of their text: then nothing needs to be merged.
bool Words<ByteLevelBpe>::write_whole() noexcept {
    const Trie& trie = model_.trie;
    const std::uint8_t* bytes = word_.bytes();
    std::uint32_t node = model_.first_nodes[bytes[0]];
    for (std::uint32_t at = 1; at < word_.size(); ++at) {
        node = find_child(trie, node, bytes[at]);
        if (node == kNoNode) return false;
    }
    node = at_end_of_word(node);
    if (node == kNoNode || !ends_key(trie, node)) return false;
    if ((packed_value(model_.merges, key_at(trie, node), model_.merge_bits) & 1U) == 0) return false;
    std::uint32_t first = 0;
    write(node, 0, word_.size(), first);
    return true;
}

void Words<ByteLevelBpe>::write_pieces() noexcept {
    const std::uint32_t size = word_.size();
    for (std::uint32_t at = 0; at < size; ++at) {
        symbols_.nodes[at] = model_.first_nodes[word_.bytes()[at]];
        symbols_.next[at] = static_cast<std::uint16_t>(at + 1);
    }
    symbols_.nodes[size - 1] = at_end_of_word(symbols_.nodes[size - 1]);
    merge(symbols_, size, [this](std::uint32_t left, std::uint32_t at) noexcept { rank(left, at); });
    std::uint32_t first = 0;
    for (std::uint32_t at = 0; at < size; at = symbols_.next[at])
        write(symbols_.nodes[at], at, symbols_.next[at], first);
}

// Behind a word's last byte.
std::uint32_t Words<ByteLevelBpe>::at_end_of_word(std::uint32_t node) const noexcept {
    if (!model_.marks_ends) return node;
    for (const char* rest = ByteLevelBpe::kEndOfWord; *rest != 0 && node != kNoNode; ++rest)
        node = find_child(model_.trie, node, static_cast<std::uint8_t>(*rest));
    return node;
}

// Finds out what a symbol and its next one become. The trie is followed by what of the right one lies behind `at`.
void Words<ByteLevelBpe>::rank(std::uint32_t left, std::uint32_t at) noexcept {
    const Trie& trie = model_.trie;
    const std::uint32_t right = symbols_.next[left];
    symbols_.ranks[left] = kNoMerge;
    if (right == word_.size()) return;
    std::uint32_t node = symbols_.pairs[left];
    for (; at < symbols_.next[right] && node != kNoNode; ++at)
        node = find_child(trie, node, word_.bytes()[at]);
    if (at == word_.size()) node = at_end_of_word(node);
    symbols_.pairs[left] = node;
    if (node == kNoNode || !ends_key(trie, node)) return;
    const std::uint32_t key = key_at(trie, node);
    if (model_.left_sizes[key] != right - left) return;
    symbols_.ranks[left] = packed_value(model_.merges, key, model_.merge_bits) >> 1;
}

// Writes the piece of the word's bytes [at, end). A byte stands for all of its character; `first` is the one that the
// last piece ended in, and becomes that of this one.
void Words<ByteLevelBpe>::write(std::uint32_t node, std::uint32_t at, std::uint32_t end,
                                std::uint32_t& first) noexcept {
    const std::uint8_t* bytes = word_.bytes();
    while (word_.byte_end(first) <= at)
        ++first;
    std::uint32_t last = first;
    while (word_.byte_end(last) < end)
        ++last;
    TokenOffset place{word_.char_begin(first), word_.char_end(last)};
    if (model_.trim_offsets && (bytes[at] == kSpace || bytes[end - 1] == kSpace)) {
        // A space is one byte of the text, but for the one of add_prefix_space, which has its neighbour's place.
        const std::uint32_t first_width = word_.char_end(first) - word_.char_begin(first);
        std::uint32_t leading = 0;
        while (at + leading < end && bytes[at + leading] == kSpace)
            ++leading;
        std::uint32_t trailing = 0;
        while (at + trailing < end && bytes[end - 1 - trailing] == kSpace)
            ++trailing;
        const bool stays = model_.keep_first_space && leading == 1 && (out_.count == 0 || place.begin == 0);
        const std::uint32_t front = leading == 0 || stays ? 0 : first_width + leading - 1;
        const std::uint32_t back = trailing == end - at ? first_width + trailing - 1 : trailing;
        place.begin += front;
        place.end = place.end - place.begin < back ? place.begin : place.end - back;
    }
    first = last;
    out_.write(id_at(model_.trie, node), place.begin, place.end);
}

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
