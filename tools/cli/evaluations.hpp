// SPDX-License-Identifier: Apache-2.0
// --evaluate of each task, one file for each.
#pragma once

#include "dataset.hpp"

namespace etch::cli {

// evaluate_labels.cpp, evaluate_label_sets.cpp, evaluate_values.cpp, evaluate_similarity.cpp
void evaluate_labels(const Options& options, const Dataset& dataset);
void evaluate_label_sets(const Options& options, const Dataset& dataset);
void evaluate_values(const Options& options, const Dataset& dataset);
void evaluate_similarity(const Options& options, const Dataset& dataset);

}  // namespace etch::cli
