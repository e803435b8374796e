// SPDX-License-Identifier: Apache-2.0
// A file of questions with their right answers: SQuAD's form, or an object a line.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "../arguments.hpp"

namespace etch::cli {

struct AskedQuestion {
    std::string question;
    std::string context;
    std::vector<std::string> answers;  // none, or empty ones: there is no answer
};

// At most --limit questions, at least one. Another kind of file ends the program with exit code 2; what is wrong with
// the file itself with 1 and the line.
std::vector<AskedQuestion> read_questions(const Options& options);

}  // namespace etch::cli
