// SPDX-License-Identifier: Apache-2.0
// From an id back to its text, which is what tokens are displayed with: slow and small, the trie read upwards.
#include "trie.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

using namespace tokenizer;

// The last block of which `before(block)`, which never falls, is at most `value`.
template <class Before>
std::uint32_t last_block(const WordPiece& tables, std::uint32_t value, Before before) noexcept {
    std::uint32_t low = 0;
    std::uint32_t high = tables.block_count;
    while (high - low > 1) {
        const std::uint32_t middle = low + (high - low) / 2;
        (before(middle) <= value ? low : high) = middle;
    }
    return low;
}

std::uint32_t node_of_key(const WordPiece& tables, std::uint32_t rank) noexcept {
    const std::uint32_t block =
        last_block(tables, rank, [&](std::uint32_t i) noexcept { return keys_before_block(tables, i); });
    std::uint32_t node = block * kNodesPerBlock;
    for (std::uint32_t left = rank - keys_before_block(tables, block);; ++node) {
        if (ends_key(tables, node) && left-- == 0) return node;
    }
}

// Of a node that is not a first one.
std::uint32_t parent_of(const WordPiece& tables, std::uint32_t node) noexcept {
    const std::uint32_t block =
        last_block(tables, node, [&](std::uint32_t i) noexcept { return tables.blocks[i * kWordsPerBlock + 2]; });
    std::uint32_t parent = block * kNodesPerBlock;
    for (;; ++parent) {
        const Children children = children_of(tables, parent);
        if (node - children.first < children.count) return parent;
    }
}

// Writes the bytes of the key that ends at `node`, the prefix included, from the last one back: byte i of `size` goes
// to text[i] if there is room. With a size of 0 nothing is written. Returns the number of bytes.
std::uint32_t walk_up(const WordPiece& tables, std::uint32_t node, char* text, std::size_t capacity,
                      std::uint32_t size) noexcept {
    std::uint32_t count = 0;
    const auto put = [&](std::uint8_t byte) noexcept {
        ++count;
        if (count <= size && size - count < capacity) text[size - count] = static_cast<char>(byte);
    };
    for (;; node = parent_of(tables, node)) {
        if (tables.labels[node] != kContinues) put(tables.labels[node]);
        if (node < tables.first_end) break;
    }
    if (node >= tables.initial_end && node < tables.continuing_end) {
        for (std::uint32_t i = tables.prefix_size; i > 0; --i)
            put(tables.prefix[i - 1]);
    }
    return count;
}

}  // namespace

std::size_t piece(const WordPiece& tables, std::int32_t id, char* text, std::size_t capacity) noexcept {
    for (std::uint32_t rank = 0; rank < tables.key_count; ++rank) {
        if (id_of_key(tables, rank) != id) continue;
        const std::uint32_t node = node_of_key(tables, rank);
        return walk_up(tables, node, text, capacity, walk_up(tables, node, nullptr, 0, 0));
    }
    return 0;
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
