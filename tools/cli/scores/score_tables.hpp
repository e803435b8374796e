// SPDX-License-Identifier: Apache-2.0
// Scores as text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "confusion_matrix.hpp"

namespace etch::cli {

// `accuracy: 91.23 %` of 0.9123. `-` where there is no value, here and below.
std::string percent_line(const char* name, std::optional<double> value);

// `mean squared error: 0.123456`
std::string number_line(const char* name, std::optional<double> value);

// Pearson's and Spearman's, a line each.
std::string correlation_lines(const std::vector<double>& truths, const std::vector<double>& answers);

// Precision, recall, F1 and rows of each label, and their means over the labels that have one; `rows` in all.
std::string class_table(const std::vector<LabelMeasures>& labels, std::uint64_t rows);

// Precision, recall, F1 and number of the entities of each type.
std::string entity_table(const std::vector<std::string>& types, const std::vector<LabelMeasures>& measures);

// Counts, then per cent of the true label's rows. Above 20 labels the cells that are not 0 as a list, largest first.
std::string confusion_tables(const ConfusionMatrix& confusion);

// Both in one cell, `85 (94.44)`, as papers print it. Above 20 labels the same list.
std::string confusion_matrix(const ConfusionMatrix& confusion);

// {"accuracy", "rows", "labels", "counts", "per_cent"}: the last two as [true label][answer]; per cent of the true
// label, null where no row has it.
std::string confusion_json(const ConfusionMatrix& confusion);

}  // namespace etch::cli
