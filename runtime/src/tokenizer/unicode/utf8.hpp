// SPDX-License-Identifier: Apache-2.0
// UTF-8 as Python's bytes.decode("utf-8", "replace") reads it: never fails, U+FFFD for what is malformed.
#pragma once

#include <cstdint>
#include <string_view>

#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

constexpr std::uint32_t kReplacement = 0xFFFD;
constexpr std::uint32_t kMaxUtf8Bytes = 4;

struct Decoded {
    std::uint32_t scalar;
    std::uint32_t size;  // bytes read, at least 1
};

// The scalar that starts at `at` < text.size(). A malformed sequence ends before the first byte that cannot continue it
// (Unicode's "maximal subpart"), so a byte that can start a character always does: a well-formed character found
// anywhere in the text is one that decoding from the start finds too.
Decoded decode(std::string_view text, std::uint32_t at) noexcept;

// The scalar that ends at `end` > 0; U+FFFD for whatever is not a well-formed one.
Decoded decode_before(std::string_view text, std::uint32_t end) noexcept;

// The scalar that begins here, of text that is known to be well-formed and as long as it says.
inline Decoded decode_known(const std::uint8_t* text) noexcept {
    const std::uint32_t first = text[0];
    const auto rest = [text](std::uint32_t i) noexcept { return text[i] & 0x3FU; };
    if (first < 0x80U) return {first, 1};
    if (first < 0xE0U) return {(first & 0x1FU) << 6 | rest(1), 2};
    if (first < 0xF0U) return {(first & 0x0FU) << 12 | rest(1) << 6 | rest(2), 3};
    return {(first & 0x07U) << 18 | rest(1) << 12 | rest(2) << 6 | rest(3), 4};
}

inline std::uint32_t encoded_size(std::uint32_t scalar) noexcept {
    return 1U + (scalar >= 0x80U) + (scalar >= 0x800U) + (scalar >= 0x10000U);
}

// Writes a scalar and returns its size, at most kMaxUtf8Bytes.
inline std::uint32_t encode(std::uint32_t scalar, std::uint8_t* out) noexcept {
    const auto continuation = [scalar](unsigned shift) {
        return static_cast<std::uint8_t>(0x80U | ((scalar >> shift) & 0x3FU));
    };
    if (scalar < 0x80U) {
        out[0] = static_cast<std::uint8_t>(scalar);
        return 1;
    }
    if (scalar < 0x800U) {
        out[0] = static_cast<std::uint8_t>(0xC0U | (scalar >> 6));
        out[1] = continuation(0);
        return 2;
    }
    if (scalar < 0x10000U) {
        out[0] = static_cast<std::uint8_t>(0xE0U | (scalar >> 12));
        out[1] = continuation(6);
        out[2] = continuation(0);
        return 3;
    }
    out[0] = static_cast<std::uint8_t>(0xF0U | (scalar >> 18));
    out[1] = continuation(12);
    out[2] = continuation(6);
    out[3] = continuation(0);
    return 4;
}

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
