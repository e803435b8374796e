// SPDX-License-Identifier: Apache-2.0
#include "json.hpp"

#include <cmath>

#include "format.hpp"
#include "utf8.hpp"

namespace etch::cli {
namespace {

// As \uHHHH; beyond U+FFFF two of them, a surrogate pair.
void append_escape(std::string& out, std::uint32_t code_point) {
    if (code_point >= 0x10000) {
        out += format("\\u%04x", static_cast<unsigned>(0xD800 + ((code_point - 0x10000) >> 10)));
        code_point = 0xDC00 + ((code_point - 0x10000) & 0x3FF);
    }
    out += format("\\u%04x", static_cast<unsigned>(code_point));
}

}  // namespace

void append_json(std::string& out, std::string_view text) {
    out += '"';
    while (!text.empty()) {
        const tokenizer::Decoded next = tokenizer::decode(text, 0);
        text.remove_prefix(next.size);
        if (next.scalar == '"' || next.scalar == '\\') {
            out += '\\';
            out += static_cast<char>(next.scalar);
        } else if (is_control(next.scalar)) {
            append_escape(out, next.scalar);
        } else {
            append_utf8(out, next.scalar);
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
