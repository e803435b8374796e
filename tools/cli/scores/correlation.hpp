// SPDX-License-Identifier: Apache-2.0
// How two rows of numbers go together. No model in here.
#pragma once

#include <optional>
#include <vector>

namespace etch::cli {

// From -1 to 1. Nothing where one of the two does not vary, or holds a value that is not finite. The two have the same
// size.
std::optional<double> pearson(const std::vector<double>& a, const std::vector<double>& b);

// Pearson's of the ranks; equal values share the mean of their ranks.
std::optional<double> spearman(const std::vector<double>& a, const std::vector<double>& b);

// Nothing of no values.
std::optional<double> mean_squared_error(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace etch::cli
