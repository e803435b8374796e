// SPDX-License-Identifier: Apache-2.0
// Where grapheme clusters begin (Unicode Standard Annex 29, extended), as far as clusters of a few bytes show it.
#pragma once

#include <cstdint>

#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

// What the rules ask about a scalar. Regional indicators are as any other character: each has four bytes.
struct Grapheme {
    static constexpr std::uint16_t kJoins = 1;            // to whatever is before it: marks, the joiner
    static constexpr std::uint16_t kControl = 2;          // joins nothing and nothing joins it
    static constexpr std::uint16_t kPrepend = 4;          // joins what follows
    static constexpr std::uint16_t kPictographic = 8;     // may follow another one and a joiner
    static constexpr std::uint16_t kExtendsPicture = 16;  // may stand between the two
    static constexpr std::uint16_t kJoiner = 32;          // U+200D
    static constexpr std::uint16_t kConsonant = 64;       // of a conjunct: may follow another one and a linker
    static constexpr std::uint16_t kLinker = 128;
    static constexpr std::uint16_t kExtendsConjunct = 256;  // may stand between the two
    static constexpr std::uint16_t kLeading = 512;          // Hangul: L,
    static constexpr std::uint16_t kVowel = 1024;           // ends with V,
    static constexpr std::uint16_t kTrailing = 2048;        // ends with T;
    static constexpr std::uint16_t kAfterLeading = 4096;    // may follow L,
    static constexpr std::uint16_t kAfterVowel = 8192;      // V,
    static constexpr std::uint16_t kAfterTrailing = 16384;  // T
};

// Three stages; the last holds the classes of 16 scalars. codegen/tokenizer/grapheme_tables.py writes them.
constexpr std::uint32_t kGraphemeLeafBits = 4;
constexpr std::uint32_t kGraphemeMiddleBits = 4;

extern const std::uint8_t kGraphemeTop[];
extern const std::uint16_t kGraphemeMiddle[];
extern const std::uint8_t kGraphemeLeaves[];
extern const std::uint16_t kGraphemeFlags[];  // of each class

inline std::uint16_t grapheme_flags(std::uint32_t scalar) noexcept {
    constexpr std::uint32_t kLeafMask = (1U << kGraphemeLeafBits) - 1;
    constexpr std::uint32_t kMiddleMask = (1U << kGraphemeMiddleBits) - 1;
    const std::uint32_t top = kGraphemeTop[scalar >> (kGraphemeLeafBits + kGraphemeMiddleBits)];
    const std::uint32_t leaf =
        kGraphemeMiddle[(top << kGraphemeMiddleBits) + ((scalar >> kGraphemeLeafBits) & kMiddleMask)];
    return kGraphemeFlags[kGraphemeLeaves[(leaf << kGraphemeLeafBits) + (scalar & kLeafMask)]];
}

// Goes over a text from the beginning of a cluster on.
class GraphemeBreaks {
  public:
    // Whether a cluster begins at the next scalar of the text.
    bool begins_at(std::uint32_t scalar) noexcept {
        using G = Grapheme;
        const std::uint16_t flags = grapheme_flags(scalar);
        const bool begins = !joins(flags, scalar);
        if ((flags & G::kPictographic) != 0) {
            picture_ = Sequence::begun;
        } else if (picture_ != Sequence::begun || (flags & (G::kExtendsPicture | G::kJoiner)) == 0) {
            picture_ = Sequence::none;
        } else if ((flags & G::kJoiner) != 0) {
            picture_ = Sequence::joined;
        }
        if ((flags & G::kConsonant) != 0) {
            conjunct_ = Sequence::begun;
        } else if ((flags & (G::kLinker | G::kExtendsConjunct)) == 0) {
            conjunct_ = Sequence::none;
        } else if (conjunct_ != Sequence::none && (flags & G::kLinker) != 0) {
            conjunct_ = Sequence::joined;
        }
        before_ = flags;
        after_return_ = scalar == '\r';
        return begins;
    }

  private:
    enum class Sequence : std::uint8_t { none, begun, joined };  // by what lets the next one follow

    bool joins(std::uint16_t flags, std::uint32_t scalar) const noexcept {
        using G = Grapheme;
        if (((before_ | flags) & G::kControl) != 0) return after_return_ && scalar == '\n';
        if ((flags & G::kJoins) != 0 || (before_ & G::kPrepend) != 0) return true;
        if ((flags & G::kPictographic) != 0 && picture_ == Sequence::joined) return true;
        if ((flags & G::kConsonant) != 0 && conjunct_ == Sequence::joined) return true;
        return ((before_ & G::kLeading) != 0 && (flags & G::kAfterLeading) != 0) ||
               ((before_ & G::kVowel) != 0 && (flags & G::kAfterVowel) != 0) ||
               ((before_ & G::kTrailing) != 0 && (flags & G::kAfterTrailing) != 0);
    }

    std::uint16_t before_ = Grapheme::kControl;  // nothing joins the beginning
    bool after_return_ = false;
    Sequence picture_ = Sequence::none;
    Sequence conjunct_ = Sequence::none;
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
