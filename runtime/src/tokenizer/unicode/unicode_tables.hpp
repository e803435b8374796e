// SPDX-License-Identifier: Apache-2.0
// The layout of unicode_tables.cpp, which codegen/tokenizer/unicode_tables.py writes.
#pragma once

#include <cstdint>

#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

struct Properties {
    static constexpr std::uint8_t kControl = 1;         // deleted by clean_text
    static constexpr std::uint8_t kWhiteSpace = 2;      // separates words
    static constexpr std::uint8_t kChinese = 4;         // surrounded by spaces by handle_chinese_chars
    static constexpr std::uint8_t kPunctuation = 8;     // a word of its own
    static constexpr std::uint8_t kNonspacing = 16;     // deleted by strip_accents, all its parts included
    static constexpr std::uint8_t kWord = 32;           // what a single_word token must not touch
    static constexpr std::uint8_t kStrips = 64;         // strip_accents makes it something else: see kStripRanges
    static constexpr std::uint8_t kLowerExpands = 128;  // U+0130

    std::uint16_t lower_delta;  // lower case minus itself, modulo 2^16: both are of one plane
    std::uint8_t flags;
    // Order of combining classes, 0 for starters; of the first part for what decomposes. Classes that differ only among
    // nonspacing marks share a rank: those are deleted, so their order shows only relative to the marks that are not.
    std::uint8_t rank;
};

// Neighbouring scalars that strip_accents changes, in one word: the first one; the plane of what they become, or
// kSequencePlane; where that begins in kStripTargets.
constexpr std::uint32_t kStripScalarBits = 18;
constexpr std::uint32_t kStripPlaneBits = 2;
constexpr std::uint32_t kSequencePlane = 3;   // the target is an index into kStripSequences, in sequences
constexpr std::uint32_t kSequenceLength = 3;  // scalars of a sequence, zeros behind the last one

// Four stages: scalar -> kTop -> kUpper -> kMiddle -> kLeaves -> kProperties. Planes 3 to 16 then cost next to nothing.
constexpr std::uint32_t kLeafBits = 3;
constexpr std::uint32_t kMiddleBits = 4;
constexpr std::uint32_t kUpperBits = 4;

extern const Properties kProperties[];
extern const std::uint8_t kTop[];
extern const std::uint8_t kUpper[];
extern const std::uint16_t kMiddle[];
extern const std::uint8_t kLeaves[];
extern const std::uint32_t kStripRanges[];  // ascending by their scalar
extern const std::uint32_t kStripRangeCount;
extern const std::uint16_t kStripTargets[];
extern const std::uint32_t kStripSequences[];

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
