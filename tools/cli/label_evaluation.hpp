// SPDX-License-Identifier: Apache-2.0
// --evaluate of models whose answer is one of several labels; tasks/classify.cpp has it.
#pragma once

#include "options.hpp"

namespace etch::cli {

extern const OptionGroup kLabelOptions;   // --labels
extern const OptionGroup kMatrixOptions;  // --confusion

inline constexpr const char* kLabelNamesHelp = R"(
  --labels 0|1         labels are numbers from 0 or from 1
  --labels names       labels are the model's label names, in upper or lower case
  --labels A,B,…       labels are these names, in the order of the model's labels
                       (default: names if all are names of labels, else numbers; from 0 if a 0 occurs, from 1 if
                       the number of labels does)
)";

// Accuracy, precision, recall, F1 and confusion matrix.
void evaluate_labels(const Options& options);

}  // namespace etch::cli
