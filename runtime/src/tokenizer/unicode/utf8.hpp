// SPDX-License-Identifier: Apache-2.0
// Of UTF-8 what only the tokenizers need.
#pragma once

#include <cstdint>
#include <string_view>

#include "etch/tokenizer/utf8.hpp"
#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

constexpr std::uint8_t kSpace = 0x20;  // the scalar and its byte

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

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
