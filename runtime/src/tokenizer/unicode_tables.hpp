// SPDX-License-Identifier: Apache-2.0
// The layout of unicode_tables.cpp, which codegen/tokenizer/unicode_tables.py writes.
#pragma once

#include <cstdint>

#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

struct Properties {
    static constexpr std::uint16_t kControl = 1;         // deleted by clean_text
    static constexpr std::uint16_t kWhiteSpace = 2;      // separates words
    static constexpr std::uint16_t kChinese = 4;         // surrounded by spaces by handle_chinese_chars
    static constexpr std::uint16_t kPunctuation = 8;     // a word of its own
    static constexpr std::uint16_t kNonspacing = 16;     // deleted by strip_accents, all its parts included
    static constexpr std::uint16_t kWord = 32;           // what a single_word token must not touch
    static constexpr std::uint16_t kStrips = 64;         // strip_accents makes it something else: see StripRange
    static constexpr std::uint16_t kLowerExpands = 128;  // U+0130

    std::int32_t lower_delta;  // lower case minus itself
    std::uint16_t flags;
    // Order of combining classes, 0 for starters; of the first part for what decomposes. Classes that differ only among
    // nonspacing marks share a rank: those are deleted, so their order shows only relative to the marks that are not.
    std::uint8_t rank;
    std::uint8_t reserved;
};

// `count` neighbouring scalars from `first` on; their targets begin at kStripTargets[target].
struct StripRange {
    std::uint32_t first_and_plane;  // bits 0-23 the scalar, 24-31 the plane of the targets or kSequencePlane
    std::uint16_t count;
    std::uint16_t target;
};

constexpr std::uint32_t kSequencePlane = 0xFF;  // the target is an index into kStripSequences, in sequences
constexpr std::uint32_t kSequenceLength = 3;    // scalars of a sequence, zeros behind the last one

// Three stages: scalar -> kTop -> kMiddle -> kLeaves -> kProperties. Planes 3 to 16 then cost next to nothing.
constexpr std::uint32_t kLeafBits = 4;
constexpr std::uint32_t kMiddleBits = 5;

extern const Properties kProperties[];
extern const std::uint8_t kTop[];
extern const std::uint16_t kMiddle[];
extern const std::uint8_t kLeaves[];
extern const StripRange kStripRanges[];  // ascending
extern const std::uint32_t kStripRangeCount;
extern const std::uint16_t kStripTargets[];
extern const std::uint32_t kStripSequences[];

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
