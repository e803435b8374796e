// SPDX-License-Identifier: Apache-2.0
// Bytes of unknown origin as text that may be shown: the file's labels and pieces may hold any byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "etch/tokenizer/utf8.hpp"

namespace etch::cli {

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
