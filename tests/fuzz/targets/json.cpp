// SPDX-License-Identifier: Apache-2.0
// What is made of foreign bytes before they are shown: JSON, printable text, cells of tables. An input is one byte,
// the width of a cell, four of a float, and the text, which is read as JSON too.
#include "text/json.hpp"

#include <cmath>
#include <string>

#include "fuzz.hpp"
#include "strict_json.hpp"
#include "text/json_value.hpp"
#include "text/utf8.hpp"

namespace {

using etch::fuzz::check;
using etch::fuzz::StrictJson;

// Code points of a text, checked to be valid UTF-8 without controls: a terminal shows it as it is.
std::size_t harmless_length(std::string_view text) {
    std::size_t count = 0;
    while (!text.empty()) {
        const std::size_t size = StrictJson::sequence(text);
        check(size != 0, "what is shown is valid UTF-8");
        const auto byte = static_cast<unsigned char>(text[0]);
        check(byte >= 0x20 && byte != 0x7F, "what is shown has no C0 control");
        check(byte != 0xC2 || static_cast<unsigned char>(text[1]) >= 0xA0, "what is shown has no C1 control");
        text.remove_prefix(size);
        ++count;
    }
    return count;
}

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const std::size_t size = StrictJson::sequence(text);
        if (size == 0) {
            return false;
        }
        text.remove_prefix(size);
    }
    return true;
}

void check_text(std::string_view text) {
    std::string json;
    etch::cli::append_json(json, text);
    const std::optional<std::string> read = StrictJson::string(json);
    check(read.has_value(), "the JSON of a text is a string");
    check(!is_utf8(text) || *read == text, "UTF-8 comes back as it was");
    check(is_utf8(*read), "what is read is UTF-8");
    // One U+FFFD for the whole of a broken sequence at most, never for more than was broken.
    check(read->size() <= 3 * text.size(), "a byte becomes at most one U+FFFD");
    harmless_length(json);
    std::string again;
    etch::cli::append_json(again, *read);
    check(again == json, "what was repaired stays as it is");
    std::string shown;
    etch::cli::append_printable(shown, text);
    harmless_length(shown);
}

// The programs' reader against the strict one, which has neither half a surrogate pair nor what is not UTF-8.
void check_reading(std::string_view text) {
    etch::cli::JsonValue value;
    std::size_t at = 0;
    const bool is_read = etch::cli::parse_json(text, value, at);
    check(at <= text.size() && value.at <= at, "reading stops within the text");
    const bool is_valid = StrictJson::is_valid(text);
    check(is_read || !is_valid, "JSON is read");
    const bool may_differ = !is_utf8(text) || text.find("\\u") != std::string_view::npos;
    check(is_valid || !is_read || may_differ, "what is no JSON is refused");
    if (const std::optional<std::string> spelled = StrictJson::string(text)) {
        check(value.kind == etch::cli::JsonValue::Kind::text && value.text == *spelled, "a string is what it spells");
    }
}

void check_numbers(float value, std::string_view text) {
    std::string json;
    etch::cli::append_json(json, value);
    check(StrictJson::is_valid(json), "the JSON of a float is a value");
    if (std::isfinite(value)) {
        const float read = std::strtof(json.c_str(), nullptr);
        check(std::memcmp(&read, &value, sizeof value) == 0, "a float comes back with its bits");
    } else {
        check(json == "null", "no number is null");
    }
    json.clear();
    etch::cli::append_json_array(json, static_cast<std::uint32_t>(text.size() % 8), [&](std::uint32_t i) {
        i % 2 == 0 ? etch::cli::append_json(json, text.substr(i)) : etch::cli::append_json(json, value);
    });
    check(StrictJson::is_valid(json), "the JSON of an array is a value");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    etch::fuzz::Input input(data, size);
    const std::size_t width = input.byte();
    std::uint32_t bits = 0;
    for (int i = 0; i < 4; ++i) {
        bits = bits << 8 | input.byte();
    }
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    const etch::fuzz::ExactText text(input.rest());
    check_text(text.view());
    check_reading(text.view());
    check_numbers(value, text.view());
    check(harmless_length(etch::cli::cell(text.view(), width)) == width, "a cell is as wide as asked");
    return 0;
}
