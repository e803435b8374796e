// SPDX-License-Identifier: Apache-2.0
// What segmenters of text that stays as it is, but for marks, read faster by themselves.
#pragma once

#include <cstdint>
#include <string_view>

#include "../added_tokens.hpp"
#include "../cursor.hpp"
#include "../unicode/letters.hpp"
#include "../words.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

constexpr std::uint32_t kMostLettersAtOnce = 256;

// Appends the ASCII letters that follow to the word that is being read, so many at once: most of most texts.
template <class Model, class Reader>
void append_ascii_letters(Words<Model>& words, Reader& cursor, std::string_view text, RawSplitter& splitter) noexcept {
    if (!cursor.may_seek()) return;
    std::uint32_t at = cursor.position();
    const std::uint32_t end = at + kMostLettersAtOnce;
    const auto byte_at = [text](std::uint32_t i) noexcept { return static_cast<std::uint8_t>(text[i]); };
    while (at != end && splitter.contains(at) && is_ascii_letter(byte_at(at))) {
        if constexpr (Reader::kJoins) {  // also with what is behind a character that vanishes
            if (splitter.contains(at + 1) && (byte_at(at + 1) >= 0x80U || cursor.plain(byte_at(at + 1)) == 0)) break;
        }
        words.append({static_cast<std::uint8_t>(text[at]), at, at + 1, 0});
        ++at;
    }
    cursor.seek(at);
}

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
