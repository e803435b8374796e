// SPDX-License-Identifier: Apache-2.0
// Logits of a part of a vocabulary at a time.
#pragma once

#include <cstdint>

#include "etch/packing.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// Entries whose powers are summed at a time, the same for every target: it is part of the order of the sums.
inline constexpr std::uint32_t kVocabularyBlock = 512;

constexpr std::uint32_t vocabulary_blocks(std::uint32_t vocabulary) noexcept {
    return (vocabulary + kVocabularyBlock - 1) / kVocabularyBlock;
}

// Entries whose logits of so many rows have room where those of all are for one row, and a block's for each: all for
// one row, else some blocks.
constexpr std::uint32_t entries_at_once(std::uint32_t vocabulary, std::uint32_t rows) noexcept {
    const std::uint32_t blocks = vocabulary / rows / kVocabularyBlock;
    return rows == 1 ? vocabulary : (blocks > 1 ? blocks : 1) * kVocabularyBlock;
}

// Of a row the largest logit so far, and the sum of powers so far. With t = logit * log2(e): of the first block its row
// sum of exp2(t - its largest); then, with M the largest t so far, m that of a block and T the larger of M and m,
//     powers = powers * exp2(M - T) + (row sum of exp2(t - m)) * exp2(m - T), M = T.
struct LogSum {
    float largest;
    float powers;
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
