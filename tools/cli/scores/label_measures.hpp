// SPDX-License-Identifier: Apache-2.0
// How well one label is found. No model in here.
#pragma once

#include <cstdint>
#include <optional>

namespace etch::cli {

// Nothing where the denominator is 0.
inline std::optional<double> ratio(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? std::nullopt : std::optional(static_cast<double>(part) / static_cast<double>(whole));
}

// From 0 to 1.
struct LabelMeasures {
    std::optional<double> precision;
    std::optional<double> recall;
    std::optional<double> f1;
    std::uint64_t rows;  // that have the label
};

// Of a label that `rows` rows have, `answers` rows were given, and `correct` rows both.
inline LabelMeasures label_measures(std::uint64_t correct, std::uint64_t answers, std::uint64_t rows) {
    return {ratio(correct, answers), ratio(correct, rows), ratio(2 * correct, answers + rows), rows};
}

}  // namespace etch::cli
