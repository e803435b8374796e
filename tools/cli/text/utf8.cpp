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

CodePoint decode_utf8(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
    const std::uint32_t lead = byte(0);
    if (lead < 0x80) {
        return {lead, 1};
    }
    std::size_t length = 0;
    std::uint32_t value = 0;
    std::uint32_t low = 0x80;  // legal range of the second byte: excludes overlong forms, surrogates, > U+10FFFF
    std::uint32_t high = 0xBF;
    if (lead >= 0xC2 && lead <= 0xDF) {
        length = 2;
        value = lead & 0x1F;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
        length = 3;
        value = lead & 0x0F;
        low = lead == 0xE0 ? 0xA0 : low;
        high = lead == 0xED ? 0x9F : high;
    } else if (lead >= 0xF0 && lead <= 0xF4) {
        length = 4;
        value = lead & 0x07;
        low = lead == 0xF0 ? 0x90 : low;
        high = lead == 0xF4 ? 0x8F : high;
    } else {
        return {kReplacement, 1};
    }
    for (std::size_t i = 1; i < length; ++i) {
        if (i >= text.size() || byte(i) < low || byte(i) > high) {
            return {kReplacement, i};
        }
        value = value << 6 | (byte(i) & 0x3F);
        low = 0x80;
        high = 0xBF;
    }
    return {value, length};
}

void append_utf8(std::string& out, std::uint32_t code_point) {
    const auto put = [&](std::uint32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
    if (code_point < 0x80) {
        put(code_point);
    } else if (code_point < 0x800) {
        put(0xC0 | code_point >> 6);
        put(0x80 | (code_point & 0x3F));
    } else if (code_point < 0x10000) {
        put(0xE0 | code_point >> 12);
        put(0x80 | (code_point >> 6 & 0x3F));
        put(0x80 | (code_point & 0x3F));
    } else {
        put(0xF0 | code_point >> 18);
        put(0x80 | (code_point >> 12 & 0x3F));
        put(0x80 | (code_point >> 6 & 0x3F));
        put(0x80 | (code_point & 0x3F));
    }
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
        const CodePoint next = decode_utf8(text);
        text.remove_prefix(next.bytes);
        if (!is_control(next.value)) {
            append_utf8(out, next.value);
        } else if (next.value == '\t') {
            out += "\\t";
        } else if (next.value == '\n') {
            out += "\\n";
        } else if (next.value == '\r') {
            out += "\\r";
        } else {
            char escape[16];
            const char* form = next.value < 0x100 ? "\\x%02x" : next.value < 0x10000 ? "\\u%04x" : "\\U%08x";
            std::snprintf(escape, sizeof escape, form, static_cast<unsigned>(next.value));
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
        const CodePoint next = decode_utf8(rest);
        out += rest.substr(0, next.bytes);
        rest.remove_prefix(next.bytes);
        ++used;
    }
    out.append(width - used, ' ');
    return out;
}

}  // namespace etch::cli
