// SPDX-License-Identifier: Apache-2.0
// As `merge_word` and `merge_all` of models/bpe of `tokenizers`.
#include "character_bpe.hpp"

#include "metaspace.hpp"
#include "trie.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

// The node of the text of bytes [begin, end) of the word, or kNoNode.
std::uint32_t Words<CharacterBpe>::find(std::uint32_t begin, std::uint32_t end) const noexcept {
    const std::uint8_t* bytes = word_.bytes();
    std::uint32_t node = model_.first_nodes[bytes[begin]];
    std::uint32_t at = begin + 1;
    if (begins_with_metaspace(bytes + begin, end - begin)) {
        at = begin + kMetaspaceSize;
        if (at == end) return model_.metaspace_node;
        node = model_.metaspace_nodes[bytes[at++]];
    }
    for (; at < end && node != kNoNode; ++at)
        node = find_child(model_.trie, node, bytes[at]);
    return node;
}

// Of the node of a symbol's text, which ends at `end`, that of its piece.
inline std::uint32_t Words<CharacterBpe>::marked(std::uint32_t node, std::uint32_t end) const noexcept {
    const bool is_end = end == word_.size();
    if (!(is_end ? model_.marks_ends : model_.marks_goes_on)) return node;
    for (const char* rest = is_end ? CharacterBpe::kEndOfWord : CharacterBpe::kGoesOn; *rest != 0 && node != kNoNode;
         ++rest)
        node = find_child(model_.trie, node, static_cast<std::uint8_t>(*rest));
    return node;
}

// The same among the texts that unknown text may be.
std::uint32_t Words<CharacterBpe>::find_named(std::uint32_t begin, std::uint32_t end) const noexcept {
    const std::uint8_t* bytes = word_.bytes();
    std::uint32_t node = model_.named_begin;
    while (node < model_.first_end && model_.trie.labels[node] != bytes[begin])
        ++node;
    if (node == model_.first_end) return kNoNode;
    for (std::uint32_t at = begin + 1; at < end && node != kNoNode; ++at)
        node = find_child(model_.trie, node, bytes[at]);
    return node != kNoNode && ends_key(model_.trie, node) ? node : kNoNode;
}

std::int32_t Words<CharacterBpe>::id(std::uint32_t key) const noexcept {
    const std::int32_t id = id_of_key(model_.trie, key);
    return static_cast<std::uint32_t>(id) < model_.piece_count ? id : model_.unknown_id;
}

inline std::uint32_t Words<CharacterBpe>::mark(std::uint32_t key) const noexcept {
    return packed_value(model_.marks, key, CharacterBpe::kMarkBits);
}

// Whether a piece ends at this node that text may become.
inline bool Words<CharacterBpe>::is_piece(std::uint32_t node) const noexcept {
    if (node == kNoNode || !ends_key(model_.trie, node)) return false;
    return hidden_ == 0 || (mark(key_at(model_.trie, node)) & hidden_) == 0;
}

// Most words are one piece, and most pieces are what merging makes of their text: then nothing needs to be merged.
bool Words<CharacterBpe>::write_whole() noexcept {
    const std::uint32_t node = marked(find(0, word_.size()), word_.size());
    if (node == kNoNode || !ends_key(model_.trie, node)) return false;
    const std::uint32_t key = key_at(model_.trie, node);
    if ((mark(key) & (CharacterBpe::kWholeMark | hidden_)) != CharacterBpe::kWholeMark) return false;
    out_.write(id(key), word_.char_begin(0), word_.char_end(word_.chars() - 1));
    return true;
}

void Words<CharacterBpe>::write_pieces() noexcept {
    const std::uint32_t size = word_.size();
    for (std::uint32_t i = 0, at = 0; at < size; ++i) {
        const std::uint32_t end = word_.byte_end(i);
        const std::uint32_t node = find(at, end);
        symbols_.nodes[at] = is_piece(marked(node, end)) ? node : kNoNode;
        symbols_.next[at] = static_cast<std::uint16_t>(end);
        at = end;
    }
    merge(symbols_, size, [this](std::uint32_t left, std::uint32_t at) noexcept { rank(left, at); });
    for (std::uint32_t at = 0, first = 0; at < size;) {
        const bool is_known = symbols_.nodes[at] != kNoNode;
        std::uint32_t end = symbols_.next[at];
        while (!is_known && model_.fuse_unknown && end < size && symbols_.nodes[end] == kNoNode)
            end = symbols_.next[end];
        const std::uint32_t last = word_.char_ending_at(end, first);
        if (is_known) {
            const std::uint32_t key = key_at(model_.trie, marked(symbols_.nodes[at], end));
            out_.write(id(key), word_.char_begin(first), word_.char_end(last));
        } else {
            write_unknown(at, end, first, last);
        }
        at = end;
        first = last + 1;
    }
}

// Unknown characters, bytes [at, end) of the word, which together may be a piece after all. In bytes each stands for
// all of its character.
void Words<CharacterBpe>::write_unknown(std::uint32_t at, std::uint32_t end, std::uint32_t first,
                                        std::uint32_t last) noexcept {
    if (!model_.byte_fallback) {
        const std::uint32_t node = find_named(at, end);
        const std::int32_t id = node == kNoNode ? model_.unknown_id : id_at(model_.trie, node);
        out_.write(id, word_.char_begin(first), word_.char_end(last));
        return;
    }
    for (; at < end; ++at) {
        if (at == word_.byte_end(first)) ++first;
        out_.write(model_.byte_ids[word_.bytes()[at]], word_.char_begin(first), word_.char_end(first));
    }
}

// Finds out what a symbol and its next one become. The trie is followed by what of the right one lies behind `at`.
void Words<CharacterBpe>::rank(std::uint32_t left, std::uint32_t at) noexcept {
    const Trie& trie = model_.trie;
    const std::uint32_t right = symbols_.next[left];
    symbols_.ranks[left] = kNoMerge;
    if (right == word_.size() || symbols_.nodes[right] == kNoNode) return;
    std::uint32_t node = symbols_.pairs[left];
    for (; at < symbols_.next[right] && node != kNoNode; ++at)
        node = find_child(trie, node, word_.bytes()[at]);
    symbols_.pairs[left] = node;
    node = marked(node, symbols_.next[right]);
    if (node == kNoNode || !ends_key(trie, node)) return;
    const std::uint32_t key = key_at(trie, node);
    if (barred_ != 0 && (mark(key) & barred_) != 0) return;
    if (model_.ranks_by_id) {
        symbols_.ranks[left] = static_cast<std::uint32_t>(id_of_key(trie, key));
        return;
    }
    const std::uint32_t end = packed_value(model_.merge_begins, key + 1, model_.begin_bits);
    for (std::uint32_t i = packed_value(model_.merge_begins, key, model_.begin_bits); i < end; ++i) {
        if (model_.left_sizes[i] != right - left) continue;
        symbols_.ranks[left] = packed_value(model_.merge_ranks, i, model_.rank_bits);
    }
}

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
