// SPDX-License-Identifier: Apache-2.0
#include "json_rows.hpp"

#include <algorithm>

#include "../failure.hpp"

namespace etch::cli {
namespace {

using Kind = JsonValue::Kind;

bool is_one(const JsonValue& value) {
    return value.kind == Kind::text || value.kind == Kind::number;
}

// Makes `text` what the value is as a column; false for what cannot be one.
bool flatten(JsonValue& value) {
    if (value.kind != Kind::list) {
        return is_one(value);
    }
    for (const JsonValue& item : value.items) {
        if (!is_one(item)) {
            return false;
        }
        value.text += &item == value.items.data() ? "" : ";";
        value.text += item.text;
    }
    return true;
}

}  // namespace

JsonRows::JsonRows(std::string_view bytes) : rest_(bytes) {}

bool JsonRows::refuse(const std::string& problem) {
    problem_ = problem;
    return false;
}

// The next line that is not empty.
bool JsonRows::find_line(std::string_view& text) {
    while (!rest_.empty()) {
        text = rest_.substr(0, rest_.find('\n'));
        rest_.remove_prefix(std::min(text.size() + 1, rest_.size()));
        ++line_;
        if (text.find_first_not_of(" \t\r") != std::string_view::npos) {
            return true;
        }
    }
    return false;
}

bool JsonRows::read_object(std::string_view text) {
    std::size_t at = 0;
    object_.clear();
    if (!parse_json(text, object_, at) || object_.kind != Kind::object || object_.keys.empty()) {
        return refuse("this is not a JSON object");
    }
    const std::vector<std::string>& keys = object_.keys;
    if (keys.size() > kMostColumns) {
        return refuse("there are more than 1000 names");
    }
    const bool are_first_names = keys == names_;
    for (auto key = keys.begin(); !are_first_names && key != keys.end(); ++key) {
        if (std::find(keys.begin(), key, *key) != key) {
            return refuse(quoted(*key) + " is there twice");
        }
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (!flatten(object_.items[i])) {
            return refuse(quoted(keys[i]) + " is no string, number or array of them");
        }
    }
    return true;
}

// The values in the order of the names.
bool JsonRows::order(Row& row) {
    for (const std::string& name : names_) {
        const JsonValue* const found = object_.find(name);
        if (found == nullptr) {
            return refuse("there is no " + quoted(name) + ", which the first object has");
        }
        row.fields.push_back(found->text);
    }
    for (const std::string& key : object_.keys) {
        if (std::find(names_.begin(), names_.end(), key) == names_.end()) {
            return refuse("there is a " + quoted(key) + ", which the first object has not");
        }
    }
    return true;
}

DelimitedReader::Next JsonRows::next(Row& row) {
    using Next = DelimitedReader::Next;
    row.fields.clear();
    if (!problem_.empty()) {
        return Next::malformed;
    }
    if (object_.keys.empty()) {  // else the first object, whose names are handed out already
        std::string_view text;
        if (!find_line(text)) {
            return Next::end;
        }
        if (!read_object(text)) {
            return Next::malformed;
        }
    }
    row.line = line_;
    if (!named_) {
        named_ = true;
        names_ = object_.keys;
        row.fields = names_;
        return Next::row;
    }
    const bool fine = order(row);
    object_.clear();
    return fine ? Next::row : Next::malformed;
}

}  // namespace etch::cli
