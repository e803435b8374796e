// SPDX-License-Identifier: Apache-2.0
// Exact match and F1 of an answer, as SQuAD's evaluation script has them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace etch::cli {

// Words in lower case, without ASCII punctuation and without a, an and the.
std::vector<std::string> normalized_words(std::string_view text);

struct AnswerMeasures {
    double exact;  // 0 or 1
    double f1;     // of the words that both have
};

// The best over the right answers; of none: the right one is empty.
AnswerMeasures measure_answer(std::string_view answer, const std::vector<std::string>& right);

}  // namespace etch::cli
