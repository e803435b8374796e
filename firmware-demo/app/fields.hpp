// SPDX-License-Identifier: Apache-2.0
// What a line of several texts has: fields with a TAB between them.
#pragma once

#include <cstddef>
#include <string_view>

namespace firmware {

// Where the first TAB is; behind the last byte where there is none.
inline std::size_t field_end(std::string_view line) noexcept {
    std::size_t end = 0;
    while (end < line.size() && line[end] != '\t')
        ++end;
    return end;
}

// What comes behind that TAB. No std::string_view::substr(): it can throw, and there is nothing here that throws.
inline std::string_view behind(std::string_view line, std::size_t tab) noexcept {
    line.remove_prefix(tab + 1);
    return line;
}

}  // namespace firmware
