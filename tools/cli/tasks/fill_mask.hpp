// SPDX-License-Identifier: Apache-2.0
// How a model that fills masks is called. Included by model.cpp only, after the generated header.
#pragma once

#include <vector>

#include "../one_by_one.hpp"

namespace etch::cli {
extern const TaskFace kFillMaskFace;
}

namespace etch::cli::task {

inline constexpr std::uint32_t kWidth = generated::kMostCandidates;
inline constexpr const TaskFace& kFace = kFillMaskFace;
inline constexpr AppendFields* kAppendFields = append_masks;

// The one name that there is: what stands for a mask in a text.
inline std::string_view name(std::uint32_t) {
    return generated::kMask;
}

// Of the last calls, where scores are wanted: that of the i-th result is the i-th one.
inline const generated::Result* first_result = nullptr;
inline std::vector<Score> scores;

// Room for the candidates of as many results; those of the last call are gone.
inline void make_room(generated::Result* results, std::size_t count, const Wanted& wanted) {
    static std::vector<Candidate> candidates;
    first_result = results;
    scores.resize(wanted.score ? count : 0);
    constexpr std::size_t kEach = std::size_t{generated::kMaxTokens} * generated::kMostCandidates;
    candidates.resize(count * kEach);
    for (std::size_t i = 0; i < count; ++i) {
        results[i] = {};
        results[i].candidates = candidates.data() + i * kEach;
        results[i].capacity = generated::kMaxTokens;
        results[i].top = generated::kMostCandidates;
    }
}

inline Score& score_of(const generated::Result& result) {
    return scores[static_cast<std::size_t>(&result - first_result)];
}

inline Status answer(generated::Workspace& workspace, const Text& text, generated::Result& result) {
    if (!scores.empty()) {
        return generated::score(workspace, text.first, score_of(result));
    }
    return text.pair ? generated::fill_mask_pair(workspace, text.first, text.second, result)
                     : generated::fill_mask(workspace, text.first, result);
}

inline Status answer_batch(generated::Workspace& workspace, const std::string_view* texts, std::size_t count,
                           generated::Result* results) {
    if (!scores.empty()) {
        return one_by_one(answer, workspace, texts, count, results);
    }
    return generated::fill_mask_batch(workspace, texts, count, results);
}

inline Status answer_tokens(generated::Workspace& workspace, const std::int32_t* ids, std::uint32_t count,
                            generated::Result& result) {
    return generated::fill_mask_tokens(workspace, ids, nullptr, count, result);
}

inline Answer view(const generated::Result& result) {
    if (!scores.empty()) {
        const Score& score = score_of(result);
        Answer answer = {nullptr, nullptr, 0, score.tokens, score.truncated};
        answer.score = &score;
        return answer;
    }
    Answer answer = {nullptr, nullptr, 0, result.tokens, result.truncated};
    answer.candidates = result.candidates;
    answer.mask_count = result.count;
    return answer;
}

}  // namespace etch::cli::task
