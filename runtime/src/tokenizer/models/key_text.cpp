// SPDX-License-Identifier: Apache-2.0
#include "key_text.hpp"

#include "trie.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {
namespace {

// The last block of which `before(block)`, which never falls, is at most `value`.
template <class Before>
std::uint32_t last_block(const Trie& trie, std::uint32_t value, Before before) noexcept {
    std::uint32_t low = 0;
    std::uint32_t high = trie.block_count;
    while (high - low > 1) {
        const std::uint32_t middle = low + (high - low) / 2;
        (before(middle) <= value ? low : high) = middle;
    }
    return low;
}

std::uint32_t node_of_key(const Trie& trie, std::uint32_t rank) noexcept {
    const std::uint32_t block =
        last_block(trie, rank, [&](std::uint32_t i) noexcept { return keys_before_block(trie, i); });
    std::uint32_t node = block * kNodesPerBlock;
    for (std::uint32_t left = rank - keys_before_block(trie, block);; ++node) {
        if (ends_key(trie, node) && left-- == 0) return node;
    }
}

// Of a node that is not a first one.
std::uint32_t parent_of(const Trie& trie, std::uint32_t node) noexcept {
    const std::uint32_t block =
        last_block(trie, node, [&](std::uint32_t i) noexcept { return trie.blocks[i * kWordsPerBlock + 2]; });
    std::uint32_t parent = block * kNodesPerBlock;
    for (;; ++parent) {
        const Children children = children_of(trie, parent);
        if (node - children.first < children.count) return parent;
    }
}

// Writes the bytes of the key that ends at `node`, the prefix included, from the last one back: byte i of `size` goes
// to text[i] if there is room. With a size of 0 nothing is written. Returns the number of bytes.
std::uint32_t walk_up(const Trie& trie, const Roots& roots, std::uint32_t node, char* text, std::size_t capacity,
                      std::uint32_t size) noexcept {
    std::uint32_t count = 0;
    const auto put = [&](std::uint8_t byte) noexcept {
        ++count;
        if (count <= size && size - count < capacity) text[size - count] = static_cast<char>(byte);
    };
    for (;; node = parent_of(trie, node)) {
        if (trie.labels[node] != kContinues) put(trie.labels[node]);
        if (node < roots.first_end) break;
    }
    if (node >= roots.prefix_begin && node < roots.prefix_end) {
        for (std::uint32_t i = roots.prefix_size; i > 0; --i)
            put(roots.prefix[i - 1]);
    }
    return count;
}

}  // namespace

std::size_t text_of_key(const Trie& trie, const Roots& roots, std::uint32_t rank, char* text,
                        std::size_t capacity) noexcept {
    const std::uint32_t node = node_of_key(trie, rank);
    return walk_up(trie, roots, node, text, capacity, walk_up(trie, roots, node, nullptr, 0, 0));
}

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
