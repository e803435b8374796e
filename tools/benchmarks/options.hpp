// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace etch::bench {

// The command line of every benchmark program.
struct Options {
    bool quick = false;        // fewer shapes, one short repetition
    bool list = false;         // print the names and stop
    std::string filter = ".";  // regular expression: of names
    std::string kernel;        // this set only; empty: every usable one, or for a model the best one
    std::string json;          // file that result lines are appended to; empty: none
    std::string texts;         // model programs: file with one text a line for the tokenizer; empty: none
};

// Stops the program with a message where the command line is wrong.
Options parse_options(int argc, char** argv);

}  // namespace etch::bench
