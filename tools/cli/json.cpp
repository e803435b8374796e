// SPDX-License-Identifier: Apache-2.0
#include "json.hpp"

#include <cmath>

#include "output.hpp"
#include "utf8.hpp"

namespace etch::cli {

void append_json(std::string& out, std::string_view text) {
    out += '"';
    while (!text.empty()) {
        const CodePoint next = decode_utf8(text);
        text.remove_prefix(next.bytes);
        if (next.value == '"' || next.value == '\\') {
            out += '\\';
            out += static_cast<char>(next.value);
        } else if (is_control(next.value)) {
            out += format("\\u%04x", static_cast<unsigned>(next.value));
        } else {
            append_utf8(out, next.value);
        }
    }
    out += '"';
}

void append_json(std::string& out, float value) {
    out += std::isfinite(value) ? format("%.9g", static_cast<double>(value)) : "null";
}

void append_json(std::string& out, std::int64_t value) {
    out += format("%lld", static_cast<long long>(value));
}

void append_json(std::string& out, bool value) {
    out += value ? "true" : "false";
}

}  // namespace etch::cli
