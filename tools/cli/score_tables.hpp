// SPDX-License-Identifier: Apache-2.0
// Scores as text.
#pragma once

#include <string>

#include "scores.hpp"

namespace etch::cli {

// `accuracy: 91.23 %`
std::string accuracy_line(const Scores& scores);

// Precision, recall, F1 and rows of each label, and their means over the labels. `-` where nothing is to be divided.
std::string class_table(const Scores& scores);

// Counts, then per cent of the true label's rows. Above 20 labels the cells that are not 0 as a list, largest first.
std::string confusion_tables(const Scores& scores);

}  // namespace etch::cli
