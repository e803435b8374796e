// SPDX-License-Identifier: Apache-2.0
// How a model that answers questions is called. Included by model.cpp only, after the generated header.
#pragma once

#include <vector>

#include "../one_by_one.hpp"

namespace etch::cli {
extern const TaskFace kAnswerFace;
}

namespace etch::cli::task {

inline constexpr std::uint32_t kWidth = generated::kEnds;
inline constexpr const TaskFace& kFace = kAnswerFace;
inline constexpr AppendFields* kAppendFields = append_answers;

inline std::string_view name(std::uint32_t) {
    return {};
}

// For all answers of many windows: of more the worst are left out.
inline std::size_t answer_room(const AnswerOptions& options) {
    constexpr std::size_t kWindows = 1000;
    return kWindows * (2 * std::size_t{options.top} + 12);
}

// Room for the answers of as many results; those of the last call are gone.
inline void make_room(generated::Result* results, std::size_t count, const Wanted& wanted) {
    static std::vector<AnswerSpan> answers;
    const std::size_t room = answer_room(wanted.answers);
    answers.resize(count * room);
    for (std::size_t i = 0; i < count; ++i) {
        results[i] = {};
        results[i].answers = answers.data() + i * room;
        results[i].capacity = static_cast<std::uint32_t>(room);
        results[i].options = wanted.answers;
    }
}

inline Status answer(generated::Workspace& workspace, const Text& text, generated::Result& result) {
    return text.pair ? generated::answer(workspace, text.first, text.second, result)
                     : generated::answer_text(workspace, text.first, result);
}

inline Status answer_batch(generated::Workspace& workspace, const std::string_view* texts, std::size_t count,
                           generated::Result* results) {
    return one_by_one(answer, workspace, texts, count, results);
}

inline Status answer_tokens(generated::Workspace& workspace, const std::int32_t* ids, std::uint32_t count,
                            generated::Result& result) {
    return generated::answer_tokens(workspace, ids, nullptr, count, result);
}

inline Answer view(const generated::Result& result) {
    Answer answer = {result.logits, nullptr, 0, result.tokens, result.truncated};
    answer.answers = result.answers;
    answer.answer_count = result.count;
    answer.windows = result.windows;
    return answer;
}

}  // namespace etch::cli::task
