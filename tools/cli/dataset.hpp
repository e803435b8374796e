// SPDX-License-Identifier: Apache-2.0
// A labelled table, read and checked as a whole before the model sees any of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arguments.hpp"

namespace etch::cli {

struct Example {
    std::string first;
    std::string second;  // with --pairs
    std::uint32_t label;
};

struct Dataset {
    std::vector<Example> examples;  // at most --limit
    std::string label_reading;      // how label values were read, for the user
};

// Options that do not fit the file end the program with exit code 2; what is wrong with the file itself with 1 and the
// line.
Dataset read_dataset(const Options& options);

}  // namespace etch::cli
