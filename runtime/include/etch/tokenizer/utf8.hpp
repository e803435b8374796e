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

// What the first byte of a sequence of several announces: its size, 0 for a byte that starts none, and the bounds of
// the second byte, which exclude overlong forms, surrogates and what is beyond 10FFFF.
struct Lead {
    std::uint32_t size;
    std::uint32_t lowest;
    std::uint32_t highest;
};

inline Lead lead(std::uint32_t byte) noexcept {
    if (byte < 0xC2U) return {0, 0, 0};
    if (byte < 0xE0U) return {2, 0x80, 0xBF};
    if (byte < 0xF0U) return {3, byte == 0xE0U ? 0xA0U : 0x80U, byte == 0xEDU ? 0x9FU : 0xBFU};
    if (byte < 0xF5U) return {4, byte == 0xF0U ? 0x90U : 0x80U, byte == 0xF4U ? 0x8FU : 0xBFU};
    return {0, 0, 0};
}

struct Decoded {
    std::uint32_t scalar;
    std::uint32_t size;  // bytes read, at least 1
};

// The scalar that starts at `at` < text.size(). A malformed sequence ends before the first byte that cannot continue it
// (Unicode's "maximal subpart"), so a byte that can start a character always does: a well-formed character found
// anywhere in the text is one that decoding from the start finds too.
Decoded decode(std::string_view text, std::uint32_t at) noexcept;

// Bytes at the beginning of a text of at most 2^32 - 1 that are well-formed: all of it, or where it goes wrong.
std::uint32_t well_formed_size(std::string_view text) noexcept;

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
