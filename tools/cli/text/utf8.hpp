// SPDX-License-Identifier: Apache-2.0
// Bytes of unknown origin as text that may be shown: the file's labels and pieces may hold any byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace etch::cli {

inline constexpr std::uint32_t kReplacement = 0xFFFD;

struct CodePoint {
    std::uint32_t value;  // kReplacement where the bytes are not UTF-8
    std::size_t bytes;    // consumed, at least 1
};

// The first code point of a non-empty `text`. Broken sequences are consumed as Python's "replace" does: one replacement
// for each longest prefix of a valid sequence.
CodePoint decode_utf8(std::string_view text);

void append_utf8(std::string& out, std::uint32_t code_point);

// What could move a terminal's cursor, end a line, or show text in another order or not at all: C0 and C1 controls,
// DEL, line and paragraph separators, and format characters but for the two joiners, which words and emoji need.
bool is_control(std::uint32_t code_point);

// Appends `text` as valid UTF-8 on one line: controls become \t, \n, \r, \xHH, \uHHHH or \UHHHHHHHH, invalid bytes
// U+FFFD.
void append_printable(std::string& out, std::string_view text);

// `text` made printable, cut to `width` code points, padded with spaces to `width`: a cell of a table.
std::string cell(std::string_view text, std::size_t width);

}  // namespace etch::cli
