// SPDX-License-Identifier: Apache-2.0
// JSON as a tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace etch::cli {

struct JsonValue {
    enum class Kind : std::uint8_t { other, text, list, object };  // other: a number, true, false or null

    Kind kind = Kind::other;
    std::string text;               // of a text: as UTF-8; of others as they are written
    std::vector<JsonValue> items;   // of a list; of an object the values of
    std::vector<std::string> keys;  // these

    // The value of a key, or null: also where this is no object.
    const JsonValue* find(std::string_view key) const;
};

// Reads one value, with white space around it. False where `bytes` are none, or nested more than 100 deep; `at` is
// where reading stopped.
bool parse_json(std::string_view bytes, JsonValue& value, std::size_t& at);

}  // namespace etch::cli
