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
        value.at = at_;
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
                return read_word(value) || read_number(value);
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

    bool read_word(JsonValue& value) {
        for (const std::string_view word : {"true", "false", "null"}) {
            if (bytes_.substr(at_, word.size()) == word) {
                value.kind = JsonValue::Kind::word;
                value.text = word;
                at_ += word.size();
                return true;
            }
        }
        return false;
    }

    bool read_number(JsonValue& value) {
        skip_one_of("-");
        if (!skip_one_of("0") && !skip_digits()) {
            return false;
        }
        if (skip_one_of(".") && !skip_digits()) {
            return false;
        }
        if (skip_one_of("eE")) {
            skip_one_of("+-");
            if (!skip_digits()) {
                return false;
            }
        }
        value.kind = JsonValue::Kind::number;
        value.text = bytes_.substr(value.at, at_ - value.at);
        return true;
    }

    bool skip_one_of(std::string_view characters) {
        const bool there = at_ < bytes_.size() && characters.find(bytes_[at_]) != std::string_view::npos;
        at_ += there ? 1U : 0U;
        return there;
    }

    bool skip_digits() {
        const std::size_t begin = at_;
        while (at_ < bytes_.size() && bytes_[at_] >= '0' && bytes_[at_] <= '9') {
            ++at_;
        }
        return at_ > begin;
    }

    bool read_text(std::string& text) {
        ++at_;
        while (true) {
            const std::size_t begin = at_;
            while (at_ < bytes_.size() && is_plain(bytes_[at_])) {
                ++at_;
            }
            text += bytes_.substr(begin, at_ - begin);
            if (at_ == bytes_.size() || bytes_[at_] != '\\') {
                return take('"');
            }
            if (++at_ == bytes_.size() || !read_escape(text)) {
                return false;
            }
            ++at_;
        }
    }

    static bool is_plain(char c) { return c != '"' && c != '\\' && static_cast<unsigned char>(c) >= 0x20; }

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
        append_utf8(text, *unit >> 11 == 0x1B ? tokenizer::kReplacement : *unit);
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
        while (at_ < bytes_.size() && is_space(bytes_[at_])) {
            ++at_;
        }
    }

    static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

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

void JsonValue::clear() {
    kind = Kind::word;
    at = 0;
    text.clear();
    items.clear();
    keys.clear();
}

bool parse_json(std::string_view bytes, JsonValue& value, std::size_t& at) {
    at = 0;
    return Parser(bytes, at).whole(value);
}

}  // namespace etch::cli
