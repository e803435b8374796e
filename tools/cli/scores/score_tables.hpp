// SPDX-License-Identifier: Apache-2.0
// Scores as tables, or as parts of a report's object.
#pragma once

#include <string>
#include <vector>

#include "confusion_matrix.hpp"
#include "score_report.hpp"

namespace etch::cli {

// Pearson's and Spearman's.
void report_correlation(ScoreReport& report, const std::vector<double>& truths, const std::vector<double>& answers);

// Precision, recall, F1 and rows of each label, and their means over the labels that have one; `rows` in all.
// "per_label": [{"label", "precision", "recall", "f1", "rows"}].
void report_labels(ScoreReport& report, const std::vector<LabelMeasures>& labels, std::uint64_t rows);

// Precision, recall, F1 and number of the entities of each type: "per_type": [{"type", …, "entities"}].
void report_types(ScoreReport& report, const std::vector<std::string>& types,
                  const std::vector<LabelMeasures>& measures);

// Counts, then per cent of the true label's rows. Above 20 labels the cells that are not 0 as a list, largest first.
// "counts": [true label][answer].
void report_confusion(ScoreReport& report, const ConfusionMatrix& confusion);

// Both in one cell, `85 (94.44)`, as papers print it. Above 20 labels the same list.
std::string confusion_matrix(const ConfusionMatrix& confusion);

// {"accuracy", "rows", "labels", "counts", "per_cent"}: the last two as [true label][answer]; per cent of the true
// label, null where no row has it.
std::string confusion_json(const ConfusionMatrix& confusion);

}  // namespace etch::cli
