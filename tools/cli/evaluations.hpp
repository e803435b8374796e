// SPDX-License-Identifier: Apache-2.0
// --evaluate of each task, one file for each.
#pragma once

#include "dataset.hpp"

namespace etch::cli {

void evaluate_labels(const Options& options,
                     const Dataset& dataset);  // evaluate_labels.cpp
void evaluate_label_sets(const Options& options,
                         const Dataset& dataset);  // evaluate_label_sets.cpp
void evaluate_values(const Options& options,
                     const Dataset& dataset);      // evaluate_values.cpp
void evaluate_similarity(const Dataset& dataset);  // evaluate_similarity.cpp

}  // namespace etch::cli
