// SPDX-License-Identifier: Apache-2.0
// Results of a model or a head that answers questions: room for its answers, and what the program sees of one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../model.hpp"

namespace etch::cli {

// Room for all answers of many windows: of more the worst are left out. Those of the last call are gone.
template <class Result>
void give_answer_room(Result* results, std::size_t count, const AnswerOptions& options) {
    constexpr std::size_t kWindows = 1000;
    static std::vector<AnswerSpan> answers;
    const std::size_t room = kWindows * (2 * std::size_t{options.top} + 12);
    answers.resize(count * room);
    for (std::size_t i = 0; i < count; ++i) {
        results[i] = {};
        results[i].answers = answers.data() + i * room;
        results[i].capacity = static_cast<std::uint32_t>(room);
        results[i].options = options;
    }
}

template <class Result>
Answer view_of_answers(const Result& result) {
    Answer answer = {result.logits, nullptr, 0, result.tokens, result.truncated};
    answer.answers = result.answers;
    answer.answer_count = result.count;
    answer.windows = result.windows;
    return answer;
}

}  // namespace etch::cli
