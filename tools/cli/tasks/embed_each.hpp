// SPDX-License-Identifier: Apache-2.0
// How a model that gives a vector for each token is called. Included by model.cpp only, after the generated header.
#pragma once

#include <vector>

#include "../one_by_one.hpp"

namespace etch::cli {
extern const TaskFace kEmbedEachFace;
}

namespace etch::cli::task {

inline constexpr std::uint32_t kWidth = generated::kVectorWidth;
inline constexpr const TaskFace& kFace = kEmbedEachFace;
inline constexpr AppendFields* kAppendFields = append_vectors;

inline std::string_view name(std::uint32_t) {
    return {};  // the components of a vector have no names
}

inline bool as_written = false;

// Room for the vectors of as many results; those of the last call are gone.
inline void make_room(generated::Result* results, std::size_t count, const Wanted& wanted) {
    static std::vector<float> vectors;
    constexpr std::size_t kEach = std::size_t{generated::kMaxTokens} * kWidth;
    vectors.resize(count * kEach);
    as_written = wanted.as_written;
    for (std::size_t i = 0; i < count; ++i) {
        results[i] = {};
        results[i].vectors = vectors.data() + i * kEach;
        results[i].capacity = generated::kMaxTokens;
        results[i].side = wanted.side;
    }
}

// The text behind the prompt of its side.
inline Status answer(generated::Workspace& workspace, const Text& text, generated::Result& result) {
    const std::string_view prompt = result.side == Side::query ? generated::kQueryPrompt : generated::kDocumentPrompt;
    if (as_written || prompt.empty()) {
        return generated::embed_each(workspace, text.first, result);
    }
    return generated::embed_each(workspace, std::string(prompt).append(text.first), result);
}

inline Status answer_batch(generated::Workspace& workspace, const std::string_view* texts, std::size_t count,
                           generated::Result* results) {
    return one_by_one(answer, workspace, texts, count, results);
}

inline Status answer_tokens(generated::Workspace& workspace, const std::int32_t* ids, std::uint32_t count,
                            generated::Result& result) {
    return generated::embed_each_tokens(workspace, ids, nullptr, count, result);
}

inline Answer view(const generated::Result& result) {
    Answer answer = {result.rows, nullptr, 0, result.tokens, result.truncated};
    answer.vectors = result.vectors;
    answer.vector_count = result.count;
    answer.kept = result.kept;
    return answer;
}

}  // namespace etch::cli::task
