// SPDX-License-Identifier: Apache-2.0
#include "json_value.hpp"

#include <optional>

#include "utf8.hpp"

namespace etch::cli {
namespace {

constexpr int kDeepest = 100;

class Parser {
  public:
    Parser(std::string_view bytes, std::size_t& at) : bytes_(bytes), at_(at) {}

    bool whole(JsonValue& value) {
        if (!read(value, 0)) {
            return false;
        }
        skip_space();
        return at_ == bytes_.size();
    }

  private:
    bool read(JsonValue& value, int depth) {
        skip_space();
        if (depth == kDeepest || at_ == bytes_.size()) {
            return false;
        }
        switch (bytes_[at_]) {
            case '"':
                value.kind = JsonValue::Kind::text;
                return read_text(value.text);
            case '[':
                value.kind = JsonValue::Kind::list;
                return read_members(value, ']', depth);
            case '{':
                value.kind = JsonValue::Kind::object;
                return read_members(value, '}', depth);
            default:
                return read_word(value.text);
        }
    }

    bool read_members(JsonValue& value, char end, int depth) {
        ++at_;
        if (take(end)) {
            return true;
        }
        do {
            if (end == '}') {
                skip_space();
                if (at_ == bytes_.size() || bytes_[at_] != '"' || !read_text(value.keys.emplace_back()) || !take(':')) {
                    return false;
                }
            }
            if (!read(value.items.emplace_back(), depth + 1)) {
                return false;
            }
        } while (take(','));
        return take(end);
    }

    // A number, true, false or null.
    bool read_word(std::string& word) {
        while (at_ < bytes_.size() && std::string_view(" \t\r\n,]}").find(bytes_[at_]) == std::string_view::npos) {
            word += bytes_[at_++];
        }
        return word == "true" || word == "false" || word == "null" ||
               (!word.empty() && word.find_first_not_of("0123456789+-.eE") == std::string::npos);
    }

    bool read_text(std::string& text) {
        for (++at_; at_ < bytes_.size() && bytes_[at_] != '"'; ++at_) {
            if (bytes_[at_] != '\\') {
                text += bytes_[at_];
            } else if (++at_ == bytes_.size() || !read_escape(text)) {
                return false;
            }
        }
        return take('"');
    }

    bool read_escape(std::string& text) {
        constexpr std::string_view kNames = "\"\\/bfnrt";
        constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";
        if (const std::size_t index = kNames.find(bytes_[at_]); index != std::string_view::npos) {
            text += kMeant[index];
            return true;
        }
        std::optional<std::uint32_t> unit = bytes_[at_] == 'u' ? read_unit() : std::nullopt;
        if (!unit) {
            return false;
        }
        if (*unit >> 10 == 0x36 && bytes_.substr(at_ + 1, 2) == "\\u") {  // the first half of two
            const std::size_t before = at_;
            at_ += 2;
            const std::optional<std::uint32_t> second = read_unit();
            if (second && *second >> 10 == 0x37) {
                unit = 0x10000 + ((*unit & 0x3FF) << 10) + (*second & 0x3FF);
            } else {
                at_ = before;
            }
        }
        append_utf8(text, *unit >> 11 == 0x1B ? kReplacement : *unit);
        return true;
    }

    // Four hexadecimal digits behind where it is; it stands on the last one then.
    std::optional<std::uint32_t> read_unit() {
        std::uint32_t unit = 0;
        for (int i = 0; i < 4; ++i) {
            ++at_;
            const std::size_t digit = at_ < bytes_.size()
                                          ? std::string_view("0123456789abcdef0123456789ABCDEF").find(bytes_[at_])
                                          : std::string_view::npos;
            if (digit == std::string_view::npos) {
                return std::nullopt;
            }
            unit = unit * 16 + static_cast<std::uint32_t>(digit % 16);
        }
        return unit;
    }

    bool take(char wanted) {
        if (wanted != '"') {
            skip_space();
        }
        if (at_ == bytes_.size() || bytes_[at_] != wanted) {
            return false;
        }
        ++at_;
        return true;
    }

    void skip_space() {
        while (at_ < bytes_.size() && std::string_view(" \t\r\n").find(bytes_[at_]) != std::string_view::npos) {
            ++at_;
        }
    }

    std::string_view bytes_;
    std::size_t& at_;
};

}  // namespace

const JsonValue* JsonValue::find(std::string_view key) const {
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (keys[i] == key) {
            return &items[i];
        }
    }
    return nullptr;
}

bool parse_json(std::string_view bytes, JsonValue& value, std::size_t& at) {
    at = 0;
    return Parser(bytes, at).whole(value);
}

}  // namespace etch::cli
