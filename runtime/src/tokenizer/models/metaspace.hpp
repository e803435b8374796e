// SPDX-License-Identifier: Apache-2.0
// U+2581 in UTF-8, with which most words of SentencePiece's models begin.
#pragma once

#include <cstdint>

#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

constexpr std::uint32_t kMetaspaceSize = 3;

// Whether a text of `size` bytes begins with it.
inline bool begins_with_metaspace(const std::uint8_t* text, std::uint32_t size) noexcept {
    return size >= kMetaspaceSize && text[0] == 0xE2 && text[1] == 0x96 && text[2] == 0x81;
}

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
