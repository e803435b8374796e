// SPDX-License-Identifier: Apache-2.0
// How a model that embeds sparsely is called. Included by model.cpp only, after the generated header.
#pragma once

#include <memory>

namespace etch::cli {
extern const TaskFace kEmbedSparseFace;
}

namespace etch::cli::task {

inline constexpr std::uint32_t kWidth = generated::kWeightsWidth;
inline constexpr const TaskFace& kFace = kEmbedSparseFace;
inline constexpr AppendFields* kAppendFields = append_weights;

inline std::string_view name(std::uint32_t) {
    return {};
}

inline Side side = Side::document;

// Room for all weights of as many results; those of the last call are gone. Most of it is never touched.
inline void make_room(generated::Result* results, std::size_t count, const Wanted& wanted) {
    static std::unique_ptr<TokenWeight[]> weights;
    static std::size_t room = 0;
    side = wanted.side;
    if (room < count) {
        weights.reset(new TokenWeight[count * kWidth]);
        room = count;
    }
    for (std::size_t i = 0; i < count; ++i) {
        results[i] = {};
        results[i].weights = weights.get() + i * kWidth;
        results[i].capacity = kWidth;
    }
}

inline Status answer(generated::Workspace& workspace, const Text& text, generated::Result& result) {
    if (side == Side::query) {
        return generated::embed_sparse_query(workspace, text.first, result);
    }
    return text.pair ? generated::embed_sparse_pair(workspace, text.first, text.second, result)
                     : generated::embed_sparse(workspace, text.first, result);
}

inline Status answer_batch(generated::Workspace& workspace, const std::string_view* texts, std::size_t count,
                           generated::Result* results) {
    if (side == Side::query) {
        return generated::embed_sparse_query_batch(workspace, texts, count, results);
    }
    return generated::embed_sparse_batch(workspace, texts, count, results);
}

inline Status answer_tokens(generated::Workspace& workspace, const std::int32_t* ids, std::uint32_t count,
                            generated::Result& result) {
    return generated::embed_sparse_tokens(workspace, ids, nullptr, count, result);
}

inline Answer view(const generated::Result& result) {
    Answer answer = {result.dense, nullptr, 0, result.tokens, result.truncated};
    answer.weights = result.weights;
    answer.weight_count = result.count;
    return answer;
}

}  // namespace etch::cli::task
