// SPDX-License-Identifier: Apache-2.0
// Byte pair encoding of one word: of all neighbours those of the lowest rank become one, the leftmost of equals.
#pragma once

#include <cstdint>

#include "etch/tokenizer/models.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

constexpr std::uint32_t kNoMerge = 0xFFFFFFFF;

// The symbols of one word, in memory of the caller's for kMostBytes of them. A symbol lies where its first byte does.
struct Symbols {
    static constexpr std::uint32_t kBlock = 32;

    explicit Symbols(void* memory) noexcept
        : nodes(static_cast<std::uint32_t*>(memory)),
          pairs(nodes + ByteLevelBpe::kMostBytes),
          ranks(pairs + ByteLevelBpe::kMostBytes),
          lowest(ranks + ByteLevelBpe::kMostBytes),
          next(reinterpret_cast<std::uint16_t*>(lowest + ByteLevelBpe::kMostBytes / kBlock)),
          previous(next + ByteLevelBpe::kMostBytes) {}

    void find_lowest(std::uint32_t block, std::uint32_t size) const noexcept {
        const std::uint32_t begin = block * kBlock;
        const std::uint32_t end = size - begin < kBlock ? size : begin + kBlock;
        std::uint32_t rank = kNoMerge;
        for (std::uint32_t at = begin; at < end; ++at)
            rank = ranks[at] < rank ? ranks[at] : rank;
        lowest[block] = rank;
    }

    std::uint32_t* nodes;   // where the symbol's text ends in the trie
    std::uint32_t* pairs;   // and where that of the symbol and its next one does; kNoNode: no piece begins so
    std::uint32_t* ranks;   // of that pair; kNoMerge also where no symbol lies
    std::uint32_t* lowest;  // of each block of ranks: so that a long word costs little more a byte than a short one
    std::uint16_t* next;
    std::uint16_t* previous;
};

// Merges neighbours until none can be. `nodes` and `next` are set; the first symbol stays the first one, the last one's
// next is the word's size. `rank(left, at)` sets rank and pair of a symbol and its next one, where `pairs` has the node
// of all that lies before `at`: what no piece begins with never becomes one by a longer next symbol.
template <class Rank>
void merge(const Symbols& symbols, std::uint32_t size, Rank rank) noexcept {
    for (std::uint32_t at = 0; at < size; ++at)
        symbols.ranks[at] = kNoMerge;
    for (std::uint32_t at = 0; at < size; at = symbols.next[at]) {
        if (symbols.next[at] != size) symbols.previous[symbols.next[at]] = static_cast<std::uint16_t>(at);
        symbols.pairs[at] = symbols.nodes[at];
        rank(at, symbols.next[at]);
    }
    const std::uint32_t blocks = (size + Symbols::kBlock - 1) / Symbols::kBlock;
    for (std::uint32_t block = 0; block < blocks; ++block)
        symbols.find_lowest(block, size);
    for (;;) {
        std::uint32_t best = 0;
        for (std::uint32_t block = 1; block < blocks; ++block)
            best = symbols.lowest[block] < symbols.lowest[best] ? block : best;
        if (symbols.lowest[best] == kNoMerge) return;
        std::uint32_t left = best * Symbols::kBlock;
        while (symbols.ranks[left] != symbols.lowest[best])
            ++left;
        const std::uint32_t right = symbols.next[left];
        const std::uint32_t behind = symbols.next[right];
        symbols.nodes[left] = symbols.pairs[left];
        symbols.next[left] = static_cast<std::uint16_t>(behind);
        if (behind != size) symbols.previous[behind] = static_cast<std::uint16_t>(left);
        symbols.ranks[right] = kNoMerge;
        rank(left, behind);
        if (right / Symbols::kBlock != best) symbols.find_lowest(right / Symbols::kBlock, size);
        if (left != 0) {
            const std::uint32_t before = symbols.previous[left];
            rank(before, right);
            if (before / Symbols::kBlock != best) symbols.find_lowest(before / Symbols::kBlock, size);
        }
        symbols.find_lowest(best, size);
    }
}

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
