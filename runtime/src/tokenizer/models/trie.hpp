// SPDX-License-Identifier: Apache-2.0
// The trie of a vocabulary, byte by byte from the top, as codegen/tokenizer/trie.py lays it out.
#pragma once

#include <cstdint>
#include <cstring>

#include "../bytes16.hpp"
#include "etch/tokenizer/trie.hpp"
#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

constexpr std::int32_t kNoPiece = -1;
constexpr std::uint32_t kNoNode = 0xFFFFFFFF;

// Nodes are numbered breadth first, 16 to a block of four words: their counts of children, four bits each; the first
// child of the block; 16 bits of keys before the block, 16 flags of the nodes where a key ends.
constexpr std::uint32_t kNodesPerBlock = 16;
constexpr std::uint32_t kWordsPerBlock = 4;
constexpr std::uint32_t kBlocksPerRank = 4096;  // the keys before a block are counted from trie.ranks
constexpr std::uint32_t kMostChildren = 15;     // the last of so many may continue the list: its children are siblings
constexpr std::uint8_t kContinues = 0xFF;       // its label
constexpr std::uint8_t kNoFirstNode = 0xFF;

struct Children {
    std::uint32_t first;
    std::uint32_t count;
};

// A block has one byte for each of its nodes, so that a mask is all that the address needs: every byte of a text waits
// for it.
inline const std::uint32_t* block_of(const Trie& trie, std::uint32_t node) noexcept {
    static_assert(kWordsPerBlock * sizeof(std::uint32_t) == kNodesPerBlock, "one byte of a block for each node");
    const void* const block =
        reinterpret_cast<const std::uint8_t*>(trie.blocks) + node / kNodesPerBlock * kNodesPerBlock;
    return static_cast<const std::uint32_t*>(block);
}

inline Children children_of(const Trie& trie, std::uint32_t node) noexcept {
    const std::uint32_t* block = block_of(trie, node);
    const std::uint64_t counts = block[0] | std::uint64_t{block[1]} << 32;
    const std::uint32_t shift = node % kNodesPerBlock * 4;
    const std::uint64_t before = counts & ((std::uint64_t{1} << shift) - 1);
    // All counts before this one in one sum, at most 225, that the multiplication leaves in the highest byte.
    constexpr std::uint64_t kLowHalves = 0x0F0F0F0F0F0F0F0F;
    const std::uint64_t pairs = (before & kLowHalves) + (before >> 4 & kLowHalves);
    const auto sum = static_cast<std::uint32_t>(pairs * 0x0101010101010101 >> 56);
    return {block[2] + sum, static_cast<std::uint32_t>(counts >> shift & 15)};
}

#if defined(__SSE2__)

// A node of about this number is next.
inline void expect_node(const Trie& trie, std::uint32_t node) noexcept {
    __builtin_prefetch(block_of(trie, node));
}

// Where `byte` is among the labels of `count` children, `count` or more if it is not.
inline std::uint32_t find_label(const std::uint8_t* labels, std::uint8_t byte, std::uint32_t) noexcept {
    return static_cast<std::uint32_t>(__builtin_ctz(Bytes16(labels).equal_to(byte) | 1U << 16));
}

#else

inline void expect_node(const Trie&, std::uint32_t) noexcept {}

// Where `byte` is among eight labels; 8 or more if it is not.
inline std::uint32_t find_label(const std::uint8_t* labels, std::uint8_t byte) noexcept {
    constexpr std::uint64_t kOnes = 0x0101010101010101;
    std::uint64_t eight;
    std::memcpy(&eight, labels, sizeof eight);
    eight ^= kOnes * byte;
    const std::uint64_t zeros = (eight - kOnes) & ~eight & kOnes << 7;  // its lowest bit is that of the first zero byte
    return zeros == 0 ? 8 : static_cast<std::uint32_t>(__builtin_ctzll(zeros)) / 8;
}

// Where `byte` is among the labels of `count` children, `count` or more if it is not.
inline std::uint32_t find_label(const std::uint8_t* labels, std::uint8_t byte, std::uint32_t count) noexcept {
    const std::uint32_t at = find_label(labels, byte);
    return at == 8 && count > 8 ? at + find_label(labels + 8, byte) : at;
}

#endif

// The child with this label, or kNoNode.
inline std::uint32_t find_child(const Trie& trie, std::uint32_t node, std::uint8_t byte) noexcept {
    for (;;) {
        const Children children = children_of(trie, node);
        const std::uint8_t* labels = trie.labels + children.first;
        expect_node(trie, children.first);
        const std::uint32_t at = find_label(labels, byte, children.count);
        if (at < children.count) return children.first + at;
        if (children.count < kMostChildren || labels[kMostChildren - 1] != kContinues) return kNoNode;
        node = children.first + kMostChildren - 1;
    }
}

inline bool ends_key(const Trie& trie, std::uint32_t node) noexcept {
    return (block_of(trie, node)[3] >> (16 + node % kNodesPerBlock) & 1U) != 0;
}

inline std::uint32_t keys_before_block(const Trie& trie, std::uint32_t block) noexcept {
    return trie.ranks[block / kBlocksPerRank] + (trie.blocks[block * kWordsPerBlock + 3] & 0xFFFF);
}

// One of values of `bits` each, which lie one after the other, lowest bits first.
inline std::uint32_t packed_value(const std::uint8_t* values, std::uint32_t index, std::uint32_t bits) noexcept {
    const std::uint64_t bit = std::uint64_t{index} * bits;
    std::uint32_t word;
    std::memcpy(&word, values + bit / 8, sizeof word);
    return word >> bit % 8 & ((1U << bits) - 1);
}

// The id of the key with this rank: keys are ranked in the order of their nodes.
inline std::int32_t id_of_key(const Trie& trie, std::uint32_t rank) noexcept {
    return static_cast<std::int32_t>(packed_value(trie.packed_ids, rank, trie.id_bits));
}

// Of 16 bits: without an instruction for it the compiler would call a library.
inline std::uint32_t count_bits(std::uint32_t bits) noexcept {
    bits -= bits >> 1 & 0x5555;
    bits = (bits & 0x3333) + (bits >> 2 & 0x3333);
    bits = (bits + (bits >> 4)) & 0x0F0F;
    return (bits + (bits >> 8)) & 0x1F;
}

// The rank of the key that ends at `node`.
inline std::uint32_t key_at(const Trie& trie, std::uint32_t node) noexcept {
    const std::uint32_t flags_before = block_of(trie, node)[3] >> 16 & ((1U << node % kNodesPerBlock) - 1);
    return keys_before_block(trie, node / kNodesPerBlock) + count_bits(flags_before);
}

inline std::int32_t id_at(const Trie& trie, std::uint32_t node) noexcept {
    return id_of_key(trie, key_at(trie, node));
}

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
