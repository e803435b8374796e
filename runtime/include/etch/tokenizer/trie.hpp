// SPDX-License-Identifier: Apache-2.0
// A set of byte strings, each with an id, as a trie of about two bytes a node.
#pragma once

#include <cstdint>

#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// src/tokenizer/models/trie.hpp says how nodes are laid out, codegen/tokenizer/trie.py makes them.
struct Trie {
    const std::uint8_t* labels;      // [nodes + 16] the byte that leads to each node
    const std::uint32_t* blocks;     // [block_count][4]
    const std::uint32_t* ranks;      // [block_count / 4096, rounded up] keys that end before each so many blocks
    const std::uint8_t* packed_ids;  // [key_count] of `id_bits` each, in the order of the keys' nodes

    std::uint32_t block_count;
    std::uint32_t key_count;
    std::uint32_t id_bits;
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
