// SPDX-License-Identifier: Apache-2.0
// How a model that tells whether a text follows another is called. Included by model.cpp only, after the generated
// header.
#pragma once

#include "../one_by_one.hpp"

namespace etch::cli {
extern const TaskFace kNextSentenceFace;
}  // namespace etch::cli

namespace etch::cli::task {

inline constexpr std::uint32_t kWidth = generated::kLogitCount;
inline constexpr const TaskFace& kFace = kNextSentenceFace;
inline constexpr AppendFields* kAppendFields = append_next_sentence;

inline std::string_view name(std::uint32_t index) {
    return next_sentence_name(index);
}

// A result needs no room of its own.
inline void make_room(generated::Result*, std::size_t, const Wanted&) {}

inline Status answer(generated::Workspace& workspace, const Text& text, generated::Result& result) {
    return text.pair ? generated::is_next(workspace, text.first, text.second, result)
                     : generated::is_next_text(workspace, text.first, result);
}

inline Status answer_batch(generated::Workspace& workspace, const std::string_view* texts, std::size_t count,
                           generated::Result* results) {
    return one_by_one(answer, workspace, texts, count, results);
}

inline Status answer_tokens(generated::Workspace& workspace, const std::int32_t* ids, std::uint32_t count,
                            generated::Result& result) {
    return generated::is_next_tokens(workspace, ids, nullptr, count, result);
}

inline Answer view(const generated::Result& result) {
    const std::uint32_t label = result.logits[1] > result.logits[0] ? 1 : 0;
    return {&result.probability, result.logits, label, result.tokens, result.truncated};
}

}  // namespace etch::cli::task
