// SPDX-License-Identifier: Apache-2.0
// JSON, appended to a string. Always valid UTF-8, whatever the bytes given.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace etch::cli {

// Between quotes; controls escaped, invalid UTF-8 replaced by U+FFFD.
void append_json(std::string& out, std::string_view text);

// 9 significant digits, which give the same float back; null where there is no number to write.
void append_json(std::string& out, float value);

void append_json(std::string& out, std::int64_t value);
void append_json(std::string& out, bool value);

// `[a, b, …]`, element by element: element(i) appends the i-th.
template <class Element>
void append_json_array(std::string& out, std::uint32_t count, Element element) {
    out += '[';
    for (std::uint32_t i = 0; i < count; ++i) {
        out += i == 0 ? "" : ", ";
        element(i);
    }
    out += ']';
}

}  // namespace etch::cli
