// SPDX-License-Identifier: Apache-2.0
#include "utf8.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>

namespace etch::cli {
namespace {

constexpr std::uint32_t kNonJoiner = 0x200C;
constexpr std::uint32_t kJoiner = 0x200D;

struct Range {
    std::uint32_t first;
    std::uint32_t last;
};

// The categories Cc, Cf, Zl and Zp of Unicode 15, and what of their blocks is not assigned. U+FFFE and U+FFFF are no
// characters.
constexpr Range kControls[] = {
    {0x0000, 0x001F},   {0x007F, 0x009F},   {0x00AD, 0x00AD},   {0x0600, 0x0605},   {0x061C, 0x061C},
    {0x06DD, 0x06DD},   {0x070F, 0x070F},   {0x0890, 0x0891},   {0x08E2, 0x08E2},   {0x180E, 0x180E},
    {0x200B, 0x200F},   {0x2028, 0x202E},   {0x2060, 0x206F},   {0xFEFF, 0xFEFF},   {0xFFF0, 0xFFFB},
    {0xFFFE, 0xFFFF},   {0x110BD, 0x110BD}, {0x110CD, 0x110CD}, {0x13430, 0x1343F}, {0x1BCA0, 0x1BCA3},
    {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
};

}  // namespace

void append_utf8(std::string& out, std::uint32_t code_point) {
    std::uint8_t bytes[tokenizer::kMaxUtf8Bytes];
    out.append(reinterpret_cast<const char*>(bytes), tokenizer::encode(code_point, bytes));
}

bool is_control(std::uint32_t code_point) {
    if (code_point == kNonJoiner || code_point == kJoiner) {
        return false;
    }
    return std::any_of(std::begin(kControls), std::end(kControls),
                       [&](const Range& range) { return code_point >= range.first && code_point <= range.last; });
}

void append_printable(std::string& out, std::string_view text) {
    while (!text.empty()) {
        const tokenizer::Decoded next = tokenizer::decode(text, 0);
        text.remove_prefix(next.size);
        if (!is_control(next.scalar)) {
            append_utf8(out, next.scalar);
        } else if (next.scalar == '\t') {
            out += "\\t";
        } else if (next.scalar == '\n') {
            out += "\\n";
        } else if (next.scalar == '\r') {
            out += "\\r";
        } else {
            char escape[16];
            const char* form = next.scalar < 0x100 ? "\\x%02x" : next.scalar < 0x10000 ? "\\u%04x" : "\\U%08x";
            std::snprintf(escape, sizeof escape, form, static_cast<unsigned>(next.scalar));
            out += escape;
        }
    }
}

std::string cell(std::string_view text, std::size_t width) {
    std::string printable;
    append_printable(printable, text.substr(0, 4 * width));
    std::string out;
    std::string_view rest = printable;
    std::size_t used = 0;
    while (!rest.empty() && used < width) {
        const tokenizer::Decoded next = tokenizer::decode(rest, 0);
        out += rest.substr(0, next.size);
        rest.remove_prefix(next.size);
        ++used;
    }
    out.append(width - used, ' ');
    return out;
}

}  // namespace etch::cli
