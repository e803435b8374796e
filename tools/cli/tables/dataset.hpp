// SPDX-License-Identifier: Apache-2.0
// A table of texts with labels or scores, read and checked as a whole before the model sees any of it. What the label
// column says is left to the task.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "../arguments.hpp"
#include "../task_face.hpp"

namespace etch::cli {

struct Example {
    std::string first;
    std::string second;  // of a pair
};

struct Dataset {
    std::vector<Example> examples;    // at most --limit
    std::vector<std::string> values;  // of the label column; of all rows, so that --limit does not change their reading
    std::vector<std::size_t> lines;   // where the rows begin
    std::string name;                 // of the file, for messages
    bool header;                      // the first row names the columns
};

// What the text columns are: with --pairs two texts, whatever the task.
RowTexts texts_of_rows(const Options& options);

// Options that do not fit the file end the program with exit code 2; what is wrong with the file itself with 1 and the
// line.
Dataset read_dataset(const Options& options);

// The value of a row's label column cannot be used: ends the program. `problem` follows the file and the line.
[[noreturn]] void refuse_value(const Dataset& dataset, std::size_t row, const std::string& problem);

}  // namespace etch::cli
