// SPDX-License-Identifier: Apache-2.0
#include "score_report.hpp"

#include <cmath>

#include "../text/format.hpp"
#include "../text/json.hpp"

namespace etch::cli {
namespace {

std::string key_of(std::string_view name) {
    std::string key;
    for (const char c : name) {
        const bool upper = c >= 'A' && c <= 'Z';
        const bool kept = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        key += upper ? static_cast<char>(c - 'A' + 'a') : kept ? c : '_';
    }
    return key;
}

}  // namespace

void ScoreReport::share(const char* name, std::optional<double> value) {
    if (json_) {
        field(key_of(name), value);
    } else {
        out_ += value ? format("%s: %.2f %%\n", name, 100 * *value) : format("%s: -\n", name);
    }
}

void ScoreReport::number(const char* name, std::optional<double> value) {
    if (json_) {
        field(key_of(name), value);
    } else {
        out_ += value ? format("%s: %.6g\n", name, *value) : format("%s: -\n", name);
    }
}

void ScoreReport::field(std::string_view key, std::string_view text) {
    std::string value;
    append_json(value, text);
    raw(key, value);
}

void ScoreReport::field(std::string_view key, std::uint64_t count) {
    raw(key, format("%llu", static_cast<unsigned long long>(count)));
}

void ScoreReport::field(std::string_view key, std::optional<double> value) {
    raw(key, value && std::isfinite(*value) ? format("%.9g", *value) : "null");
}

void ScoreReport::raw(std::string_view key, std::string_view value) {
    if (json_) {
        append_key(key);
        out_ += value;
    }
}

void ScoreReport::text(std::string_view lines) {
    if (!json_) {
        out_ += lines;
    }
}

void ScoreReport::append_key(std::string_view key) {
    out_ += first_ ? "" : ", ";
    append_json(out_, key);
    out_ += ": ";
    first_ = false;
}

void ScoreReport::begin(std::string_view key) {
    if (json_) {
        append_key(key);
        out_ += '[';
        first_ = true;
    }
}

void ScoreReport::begin_item() {
    if (json_) {
        out_ += first_ ? "{" : ", {";
        first_ = true;
    }
}

void ScoreReport::end(char bracket) {
    if (json_) {
        out_ += bracket;
        first_ = false;
    }
}

}  // namespace etch::cli
