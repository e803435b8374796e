// SPDX-License-Identifier: Apache-2.0
// The table of the tokens that are found before anything else.
#pragma once

#include <cstdint>

#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// Tokens matched as a whole, before the model sees the text. Contents are in ascending byte order, so that the longest
// match is found by narrowing a range byte by byte, whatever their number.
struct AddedTokens {
    static constexpr std::uint8_t kSpecial = 1;           // ordinary text under SpecialTokens::plain_text
    static constexpr std::uint8_t kSingleWord = 2;        // not beside a word character
    static constexpr std::uint8_t kLeftStrip = 4;         // swallows the white space before it
    static constexpr std::uint8_t kRightStrip = 8;        // swallows the white space after it
    static constexpr std::uint8_t kTrimmed = 16;          // its offset leaves out what it swallows,
    static constexpr std::uint8_t kKeepsFirstSpace = 32;  // but for a single character before a text's first token

    const std::uint8_t* text;          // the contents, one after the other
    const std::uint32_t* begins;       // [count + 1] where each content begins in `text`
    const std::int32_t* ids;           // [count]
    const std::uint8_t* flags;         // [count]
    const std::uint32_t* first_bytes;  // [8] bit set of the bytes that a content can begin with
    std::uint32_t count;
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
