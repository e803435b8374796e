// SPDX-License-Identifier: Apache-2.0
// Whether a text is JSON as RFC 8259 has it, in valid UTF-8, and the text of a string. Shares nothing with the writer
// that it checks.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace etch::fuzz {

class StrictJson {
  public:
    // The text that a JSON text of one string spells; nothing where it is not that.
    static std::optional<std::string> string(std::string_view json) {
        StrictJson parser(json);
        std::string text;
        return parser.read_string(text) && parser.json_.empty() ? std::optional(text) : std::nullopt;
    }

    static bool is_valid(std::string_view json) {
        StrictJson parser(json);
        return parser.read_value(0) && parser.json_.empty();
    }

    // Bytes of the valid UTF-8 sequence at the front, 0 where there is none: the table of Unicode's section 3.9.
    static std::size_t sequence(std::string_view text) {
        const auto in = [&](std::size_t i, unsigned low, unsigned high) {
            return i < text.size() && static_cast<unsigned char>(text[i]) >= low &&
                   static_cast<unsigned char>(text[i]) <= high;
        };
        const auto tail = [&](std::size_t i) { return in(i, 0x80, 0xBF); };
        if (in(0, 0x00, 0x7F)) return 1;
        if (in(0, 0xC2, 0xDF) && tail(1)) return 2;
        const bool three = (in(0, 0xE0, 0xE0) && in(1, 0xA0, 0xBF)) || (in(0, 0xE1, 0xEC) && tail(1)) ||
                           (in(0, 0xED, 0xED) && in(1, 0x80, 0x9F)) || (in(0, 0xEE, 0xEF) && tail(1));
        if (three && tail(2)) return 3;
        const bool four = (in(0, 0xF0, 0xF0) && in(1, 0x90, 0xBF)) || (in(0, 0xF1, 0xF3) && tail(1)) ||
                          (in(0, 0xF4, 0xF4) && in(1, 0x80, 0x8F));
        return four && tail(2) && tail(3) ? 4 : 0;
    }

  private:
    static constexpr int kDeepest = 100;  // as deep as the programs read

    explicit StrictJson(std::string_view json) : json_(json) {}

    bool take(std::string_view token) {
        if (json_.substr(0, token.size()) != token) return false;
        json_.remove_prefix(token.size());
        return true;
    }

    void skip_space() {
        while (take(" ") || take("\n") || take("\t") || take("\r")) {
        }
    }

    bool read_value(int depth) {
        skip_space();
        std::string text;
        const bool read = depth < kDeepest && (take("true") || take("false") || take("null") || read_number() ||
                                               (!json_.empty() && json_[0] == '"' && read_string(text)) ||
                                               (take("[") && read_members("]", depth, false)) ||
                                               (take("{") && read_members("}", depth, true)));
        skip_space();
        return read;
    }

    // Behind the opening bracket.
    bool read_members(std::string_view close, int depth, bool named) {
        skip_space();
        if (take(close)) return true;
        do {
            std::string name;
            skip_space();
            if (named && !read_string(name)) return false;
            skip_space();
            if (named && !take(":")) return false;
            if (!read_value(depth + 1)) return false;
        } while (take(","));
        return take(close);
    }

    bool read_digits() {
        const std::string_view before = json_;
        while (!json_.empty() && json_[0] >= '0' && json_[0] <= '9') {
            json_.remove_prefix(1);
        }
        return json_.size() < before.size();
    }

    bool read_number() {
        const std::string_view before = json_;
        take("-");
        const bool whole = take("0") || read_digits();
        const bool fraction = !take(".") || read_digits();
        const bool has_exponent = take("e") || take("E");
        if (has_exponent && !take("+")) take("-");
        const bool exponent = !has_exponent || read_digits();
        if (whole && fraction && exponent) return true;
        json_ = before;
        return false;
    }

    bool read_string(std::string& text) {
        if (!take("\"")) return false;
        while (!take("\"")) {
            if (take("\\")) {
                if (!read_escape(text)) return false;
                continue;
            }
            const std::size_t size = sequence(json_);
            if (size == 0 || static_cast<unsigned char>(json_[0]) < 0x20) return false;
            text += json_.substr(0, size);
            json_.remove_prefix(size);
        }
        return true;
    }

    bool read_escape(std::string& text) {
        constexpr std::string_view kLetters = "\"\\/bfnrt";
        constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
        const std::size_t letter = json_.empty() ? std::string_view::npos : kLetters.find(json_[0]);
        if (letter != std::string_view::npos) {
            text += kMeanings[letter];
            json_.remove_prefix(1);
            return true;
        }
        unsigned long value = 0;
        unsigned long low = 0;
        if (!read_unit(value)) return false;
        if (value >= 0xD800 && value <= 0xDFFF) {  // a surrogate: the high one of a pair
            if (value > 0xDBFF || !take("\\") || !read_unit(low) || low < 0xDC00 || low > 0xDFFF) return false;
            value = 0x10000 + ((value - 0xD800) << 10) + (low - 0xDC00);
        }
        append(text, value);
        return true;
    }

    // uHHHH
    bool read_unit(unsigned long& value) {
        if (!take("u") || json_.size() < 4) return false;
        const std::string digits(json_.substr(0, 4));
        json_.remove_prefix(4);
        value = std::strtoul(digits.c_str(), nullptr, 16);
        return digits.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
    }

    static void append(std::string& text, unsigned long value) {
        const auto tail = [&](unsigned shift) { text += static_cast<char>(0x80 | (value >> shift & 0x3F)); };
        if (value < 0x80) {
            text += static_cast<char>(value);
            return;
        }
        if (value < 0x800) {
            text += static_cast<char>(0xC0 | value >> 6);
        } else {
            if (value < 0x10000) {
                text += static_cast<char>(0xE0 | value >> 12);
            } else {
                text += static_cast<char>(0xF0 | value >> 18);
                tail(12);
            }
            tail(6);
        }
        tail(0);
    }

    std::string_view json_;
};

}  // namespace etch::fuzz
