// SPDX-License-Identifier: Apache-2.0
#include "utf8.hpp"

#include <cstdint>

namespace firmware {
namespace {

// What a first byte announces: the length of its sequence and the range of the second byte, which excludes longer forms
// than needed, surrogates and what is beyond U+10FFFF. Length 0: no sequence begins so.
struct Lead {
    std::uint8_t length;
    std::uint8_t low;
    std::uint8_t high;
};

Lead lead(std::uint8_t byte) {
    if (byte < 0x80) return {1, 0, 0};
    if (byte < 0xC2) return {0, 0, 0};
    if (byte < 0xE0) return {2, 0x80, 0xBF};
    if (byte == 0xE0) return {3, 0xA0, 0xBF};
    if (byte == 0xED) return {3, 0x80, 0x9F};
    if (byte < 0xF0) return {3, 0x80, 0xBF};
    if (byte == 0xF0) return {4, 0x90, 0xBF};
    if (byte < 0xF4) return {4, 0x80, 0xBF};
    if (byte == 0xF4) return {4, 0x80, 0x8F};
    return {0, 0, 0};
}

}  // namespace

std::size_t valid_utf8_bytes(std::string_view text) {
    std::size_t at = 0;
    while (at < text.size()) {
        const Lead first = lead(static_cast<std::uint8_t>(text[at]));
        if (first.length == 0 || first.length > text.size() - at) return at;
        for (std::size_t i = 1; i < first.length; ++i) {
            const auto byte = static_cast<std::uint8_t>(text[at + i]);
            if (byte < (i == 1 ? first.low : 0x80) || byte > (i == 1 ? first.high : 0xBF)) return at;
        }
        at += first.length;
    }
    return at;
}

}  // namespace firmware
