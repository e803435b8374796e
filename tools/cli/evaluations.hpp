// SPDX-License-Identifier: Apache-2.0
// --evaluate of each task, one file for each.
#pragma once

#include "arguments.hpp"

namespace etch::cli {

// evaluate_labels.cpp, evaluate_label_sets.cpp, evaluate_values.cpp, evaluate_similarity.cpp, evaluate_tags.cpp,
// evaluate_answers.cpp
void evaluate_labels(const Options& options);
void evaluate_label_sets(const Options& options);
void evaluate_values(const Options& options);
void evaluate_similarity(const Options& options);
void evaluate_masks(const Options& options);
void evaluate_tags(const Options& options);
void evaluate_answers(const Options& options);

}  // namespace etch::cli
