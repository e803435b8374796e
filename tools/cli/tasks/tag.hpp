// SPDX-License-Identifier: Apache-2.0
// How a model that tags is called. Included by model.cpp only, after the generated header.
#pragma once

#include <vector>

namespace etch::cli {
extern const TaskFace kTagFace;
}

namespace etch::cli::task {

inline constexpr std::uint32_t kWidth = generated::kLabelCount;
inline constexpr const TaskFace& kFace = kTagFace;
inline constexpr AppendFields* kAppendFields = append_entities;

// Labels, then entities.
inline std::string_view name(std::uint32_t index) {
    return index < kWidth ? generated::kLabels[index] : generated::kEntities[index - kWidth];
}

// Room for the spans of as many results; those of the last call are gone.
inline void make_room(generated::Result* results, std::size_t count, const Wanted& wanted) {
    static std::vector<TagSpan> spans;
    spans.resize(count * generated::kMaxTokens);
    for (std::size_t i = 0; i < count; ++i) {
        results[i] = {};
        results[i].spans = spans.data() + i * generated::kMaxTokens;
        results[i].capacity = generated::kMaxTokens;
        results[i].aggregation = wanted.aggregation;
    }
}

inline Status answer(generated::Workspace& workspace, const Text& text, generated::Result& result) {
    return text.pair ? generated::tag_pair(workspace, text.first, text.second, result)
                     : generated::tag(workspace, text.first, result);
}

inline Status answer_batch(generated::Workspace& workspace, const std::string_view* texts, std::size_t count,
                           generated::Result* results) {
    return generated::tag_batch(workspace, texts, count, results);
}

inline Status answer_tokens(generated::Workspace& workspace, const std::int32_t* ids, std::uint32_t count,
                            generated::Result& result) {
    return generated::tag_tokens(workspace, ids, nullptr, count, result);
}

inline Answer view(const generated::Result& result) {
    return {result.probability, nullptr,       0, result.tokens, result.truncated, result.spans,
            result.count,       result.offsets};
}

}  // namespace etch::cli::task
