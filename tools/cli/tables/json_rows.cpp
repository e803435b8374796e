// SPDX-License-Identifier: Apache-2.0
#include "json_rows.hpp"

#include <algorithm>

#include "../failure.hpp"
#include "../text/utf8.hpp"

namespace etch::cli {
namespace {

constexpr const char* kNoObject = "this is not a JSON object";

bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

}  // namespace

JsonRows::JsonRows(std::string_view bytes) : rest_(bytes) {}

bool JsonRows::refuse(const std::string& problem) {
    if (problem_.empty()) {
        problem_ = problem;
    }
    return false;
}

// The next line that is not empty.
bool JsonRows::find_line() {
    while (!rest_.empty()) {
        const std::size_t end = std::min(rest_.find('\n'), rest_.size());
        text_ = rest_.substr(0, end);
        rest_.remove_prefix(std::min(end + 1, rest_.size()));
        ++line_;
        if (!std::all_of(text_.begin(), text_.end(), is_space)) {
            return true;
        }
    }
    return false;
}

bool JsonRows::match(char c) {
    while (!text_.empty() && is_space(text_[0])) {
        text_.remove_prefix(1);
    }
    if (text_.empty() || text_[0] != c) {
        return false;
    }
    text_.remove_prefix(1);
    return true;
}

// The four digits of \uXXXX.
bool JsonRows::read_unit(std::uint32_t& unit) {
    if (text_.size() < 4) {
        return false;
    }
    unit = 0;
    for (const char c : text_.substr(0, 4)) {
        const char lower = c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
        if (!is_digit(lower) && !(lower >= 'a' && lower <= 'f')) {
            return false;
        }
        unit = unit * 16 + static_cast<std::uint32_t>(is_digit(lower) ? lower - '0' : lower - 'a' + 10);
    }
    text_.remove_prefix(4);
    return true;
}

// Behind a backslash.
bool JsonRows::read_escape(std::string& text) {
    constexpr std::string_view kShort = "\"\\/bfnrt";
    constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";
    const char kind = text_.empty() ? '\0' : text_[0];
    text_.remove_prefix(text_.empty() ? 0 : 1);
    if (const std::size_t place = kShort.find(kind); kind != '\0' && place != std::string_view::npos) {
        text += kMeant[place];
        return true;
    }
    std::uint32_t unit = 0;
    if (kind != 'u' || !read_unit(unit)) {
        return false;
    }
    if (unit >= 0xD800 && unit < 0xDC00 && text_.substr(0, 2) == "\\u") {
        const std::string_view before = text_;
        std::uint32_t low = 0;
        text_.remove_prefix(2);
        if (!read_unit(low)) {
            return false;
        }
        if (low >= 0xDC00 && low < 0xE000) {
            append_utf8(text, 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00));
            return true;
        }
        text_ = before;
    }
    append_utf8(text, unit >= 0xD800 && unit < 0xE000 ? kReplacement : unit);
    return true;
}

// Behind the opening quote.
bool JsonRows::read_string(std::string& text) {
    while (!text_.empty()) {
        const char c = text_[0];
        text_.remove_prefix(1);
        if (c == '"') {
            return true;
        }
        if (static_cast<unsigned char>(c) < 0x20 || (c == '\\' && !read_escape(text))) {
            return refuse(kNoObject);
        }
        if (c != '\\') {
            text += c;
        }
    }
    return refuse(kNoObject);
}

bool JsonRows::read_number(std::string& text) {
    std::size_t at = 0;
    const auto here = [&] { return at < text_.size() ? text_[at] : '\0'; };
    const auto digits = [&] {
        const std::size_t begin = at;
        while (is_digit(here())) {
            ++at;
        }
        return at > begin;
    };
    at += here() == '-' ? 1U : 0U;
    const bool zero = here() == '0';
    if (zero) {
        ++at;
    } else if (!digits()) {
        return false;
    }
    if (here() == '.') {
        ++at;
        if (!digits()) {
            return false;
        }
    }
    if (here() == 'e' || here() == 'E') {
        ++at;
        at += here() == '+' || here() == '-' ? 1U : 0U;
        if (!digits()) {
            return false;
        }
    }
    text += text_.substr(0, at);
    text_.remove_prefix(at);
    return true;
}

bool JsonRows::read_value(std::string& value) {
    const auto one = [&] { return match('"') ? read_string(value) : read_number(value); };
    if (!match('[')) {
        return one();
    }
    if (match(']')) {
        return true;
    }
    while (one()) {
        if (match(']')) {
            return true;
        }
        if (!match(',')) {
            return refuse(kNoObject);
        }
        value += ';';
    }
    return false;
}

bool JsonRows::read_object() {
    members_.clear();
    if (!match('{')) {
        return refuse(kNoObject);
    }
    do {
        Member& member = members_.emplace_back();
        if (members_.size() > kMostColumns) {
            return refuse("there are more than 1000 names");
        }
        if (!match('"') || !read_string(member.name) || !match(':')) {
            return refuse(kNoObject);
        }
        if (!read_value(member.value)) {
            return refuse(quoted(member.name) + " is no string, number or array of them");
        }
    } while (match(','));
    if (!match('}') || !std::all_of(text_.begin(), text_.end(), is_space)) {
        return refuse(kNoObject);
    }
    return true;
}

// The values in the order of the names.
bool JsonRows::order(Row& row) {
    for (const Member& member : members_) {
        const auto same = [&](const Member& other) { return other.name == member.name; };
        if (std::count_if(members_.begin(), members_.end(), same) > 1) {
            return refuse(quoted(member.name) + " is there twice");
        }
        if (std::find(names_.begin(), names_.end(), member.name) == names_.end()) {
            return refuse("there is a " + quoted(member.name) + ", which the first object has not");
        }
    }
    for (const std::string& name : names_) {
        const auto found =
            std::find_if(members_.begin(), members_.end(), [&](const Member& member) { return member.name == name; });
        if (found == members_.end()) {
            return refuse("there is no " + quoted(name) + ", which the first object has");
        }
        row.fields.push_back(std::move(found->value));
    }
    return true;
}

DelimitedReader::Next JsonRows::next(Row& row) {
    row.fields.clear();
    if (members_.empty()) {  // else the first object, whose names are handed out already
        if (!problem_.empty() || !find_line()) {
            return problem_.empty() ? DelimitedReader::Next::end : DelimitedReader::Next::malformed;
        }
        if (!read_object()) {
            return DelimitedReader::Next::malformed;
        }
    }
    row.line = line_;
    if (!named_) {
        named_ = true;
        for (const Member& member : members_) {
            names_.push_back(member.name);
        }
        row.fields = names_;
        return DelimitedReader::Next::row;
    }
    const bool fine = order(row);
    members_.clear();
    return fine ? DelimitedReader::Next::row : DelimitedReader::Next::malformed;
}

}  // namespace etch::cli
