// SPDX-License-Identifier: Apache-2.0
// How a model that classifies is called. Included by model.cpp only, after the generated header.
#pragma once

namespace etch::cli {
extern const TaskFace kLabelFace;
extern const TaskFace kLabelSetFace;
}  // namespace etch::cli

namespace etch::cli::task {

inline constexpr std::uint32_t kWidth = generated::kLabelCount;
inline constexpr const TaskFace& kFace = generated::kTask == Task::single_label ? kLabelFace : kLabelSetFace;
inline constexpr AppendFields* kAppendFields = generated::kTask == Task::single_label ? append_label : append_label_set;

inline std::string_view name(std::uint32_t index) {
    return generated::kLabels[index];
}

// A result needs no room of its own.
inline void make_room(generated::Result*, std::size_t, const Wanted&) {}

inline Status answer(generated::Workspace& workspace, const Text& text, generated::Result& result) {
    return text.pair ? generated::classify_pair(workspace, text.first, text.second, result)
                     : generated::classify(workspace, text.first, result);
}

inline Status answer_batch(generated::Workspace& workspace, const std::string_view* texts, std::size_t count,
                           generated::Result* results) {
    return generated::classify_batch(workspace, texts, count, results);
}

inline Status answer_tokens(generated::Workspace& workspace, const std::int32_t* ids, std::uint32_t count,
                            generated::Result& result) {
    return generated::classify_tokens(workspace, ids, nullptr, count, result);
}

inline Answer view(const generated::Result& result) {
    return {result.probability, result.logits, result.label, result.tokens, result.truncated};
}

}  // namespace etch::cli::task
