// SPDX-License-Identifier: Apache-2.0
// JSON as a tree: all that the programs read of it goes through here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace etch::cli {

struct JsonValue {
    enum class Kind : std::uint8_t { word, number, text, list, object };  // word: true, false or null

    Kind kind = Kind::word;
    std::size_t at = 0;             // where it begins
    std::string text;               // of a text: what it spells; of a number and a word: as they are written
    std::vector<JsonValue> items;   // of a list; of an object the values of
    std::vector<std::string> keys;  // these

    // The value of a key, or null: also where this is no object.
    const JsonValue* find(std::string_view key) const;

    // Makes it an empty one that keeps the room of its items: for values that are read one after the other.
    void clear();
};

// Reads one value of RFC 8259, with white space around it, into an empty one. False where `bytes` are none, or nested
// more than 100 deep; `at` is where reading stopped. An escape of half a surrogate pair is U+FFFD; what is not UTF-8
// stays as it is.
bool parse_json(std::string_view bytes, JsonValue& value, std::size_t& at);

}  // namespace etch::cli
