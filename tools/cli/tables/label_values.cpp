// SPDX-License-Identifier: Apache-2.0
#include "label_values.hpp"

#include <algorithm>

#include "../failure.hpp"
#include "../model.hpp"
#include "../text/number.hpp"

namespace etch::cli {
namespace {

// ASCII letters only: label names are compared as bytes otherwise.
bool same_letters(std::string_view a, std::string_view b) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

std::vector<std::string> split_names(std::string_view spec) {
    std::vector<std::string> names;
    for (std::size_t begin = 0; begin <= spec.size();) {
        const std::size_t comma = std::min(spec.find(',', begin), spec.size());
        names.emplace_back(spec.substr(begin, comma - begin));
        begin = comma + 1;
    }
    return names;
}

}  // namespace

LabelValues::LabelValues(std::optional<std::string_view> spec, const std::vector<std::string_view>& values) {
    for (std::uint32_t i = 0; i < output_width(); ++i) {
        names_.emplace_back(label(i));
    }
    if (spec == "0" || spec == "1") {
        base_ = spec == "0" ? 0 : 1;
        description_ = spec == "0" ? "numbers from 0" : "numbers from 1";
    } else if (spec == "names") {
        description_ = "names of the model's labels";
    } else if (spec) {
        names_ = split_names(*spec);
        if (names_.size() != output_width()) {
            fail(kWrongUse, "--labels: expected 0, 1, names or %u names separated by commas, got %s",
                 static_cast<unsigned>(output_width()), quoted(*spec).c_str());
        }
        description_ = "the names given";
    } else if (std::all_of(values.begin(), values.end(), [&](auto value) { return find_name(value).has_value(); })) {
        description_ = "names of the model's labels";
    } else if (std::any_of(values.begin(), values.end(), [](auto value) { return parse_number(value).has_value(); })) {
        const bool zero =
            std::any_of(values.begin(), values.end(), [](auto value) { return parse_number(value) == 0; });
        if (!zero && std::all_of(values.begin(), values.end(), [](auto value) {
                const std::optional<std::uint64_t> number = parse_number(value);
                return number && *number < output_width();
            })) {
            fail(kWrongUse, "--evaluate: the labels are numbers below %u, from 0 or from 1: say --labels 0 or 1",
                 static_cast<unsigned>(output_width()));
        }
        base_ = zero ? 0 : 1;
        description_ = zero ? "numbers from 0 (a 0 occurs)" : "numbers from 1 (no 0 occurs)";
    } else {
        description_ = "names of the model's labels";
    }
}

std::optional<std::uint32_t> LabelValues::find_name(std::string_view value) const {
    std::optional<std::uint32_t> loose;
    for (std::uint32_t i = 0; i < names_.size(); ++i) {
        if (names_[i] == value) {
            return i;
        }
        if (!loose && same_letters(names_[i], value)) {
            loose = i;
        }
    }
    return loose;
}

std::optional<std::uint32_t> LabelValues::find(std::string_view value) const {
    if (!base_) {
        return find_name(value);
    }
    const std::optional<std::uint64_t> number = parse_number(value);
    if (!number || *number < *base_ || *number - *base_ >= output_width()) {
        return std::nullopt;
    }
    return static_cast<std::uint32_t>(*number - *base_);
}

}  // namespace etch::cli
