// SPDX-License-Identifier: Apache-2.0
#include "etch/tokenizer/characters.hpp"

#include "unicode.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

std::uint32_t lower_case(std::uint32_t scalar) noexcept {
    const std::uint16_t delta = tokenizer::properties(scalar).lower_delta;
    return (scalar & 0xFFFF0000U) | ((scalar + delta) & 0xFFFFU);
}

bool is_word_character(std::uint32_t scalar) noexcept {
    return tokenizer::is_word(scalar);
}

bool is_space_character(std::uint32_t scalar) noexcept {
    return tokenizer::is_white_space(scalar) || scalar - 0x1CU < 4;
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
