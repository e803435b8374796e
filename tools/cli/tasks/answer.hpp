// SPDX-License-Identifier: Apache-2.0
// How a model that answers questions is called. Included by model.cpp only, after the generated header.
#pragma once

#include "../one_by_one.hpp"
#include "answer_room.hpp"

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

// For as many results.
inline void make_room(generated::Result* results, std::size_t count, const Wanted& wanted) {
    give_answer_room(results, count, wanted.answers);
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
    return view_of_answers(result);
}

}  // namespace etch::cli::task
