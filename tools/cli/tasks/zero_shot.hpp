// SPDX-License-Identifier: Apache-2.0
// How a model that takes its labels at run time is called. Included by model.cpp only, after the generated header.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "../one_by_one.hpp"

namespace etch::cli {
extern const TaskFace kZeroShotFace;
}  // namespace etch::cli

namespace etch::cli::task {

inline constexpr std::uint32_t kWidth = generated::kLogitCount;
inline constexpr const TaskFace& kFace = kZeroShotFace;
inline constexpr AppendFields* kAppendFields = append_zero_shot;

inline std::string_view name(std::uint32_t) {
    return {};  // labels have the names that a user gives them
}

// Of the last calls: the scores of the i-th result are the i-th row.
inline const generated::Result* first_result = nullptr;
inline std::vector<float> scores;
inline std::vector<std::string> hypotheses;
inline bool by_itself = false;

inline void make_room(generated::Result* results, std::size_t count, const Wanted& wanted) {
    first_result = results;
    hypotheses.clear();
    for (const std::string_view label : wanted.labels) {
        hypotheses.push_back(std::string(wanted.before).append(label).append(wanted.after));
    }
    scores.assign(count * hypotheses.size(), 0);
    by_itself = wanted.multi_label || hypotheses.size() == 1;
}

inline float* scores_of(const generated::Result& result) {
    return scores.data() + static_cast<std::size_t>(&result - first_result) * hypotheses.size();
}

inline Status answer(generated::Workspace& workspace, const Text& text, generated::Result& result) {
    if (text.pair) {
        return generated::zero_shot_pair(workspace, text.first, text.second, result);
    }
    if (hypotheses.empty()) {
        return generated::zero_shot_text(workspace, text.first, result);
    }
    std::vector<TextPair> pairs;
    for (const std::string& hypothesis : hypotheses) {
        pairs.push_back({text.first, hypothesis});
    }
    std::vector<generated::Result> results(pairs.size());
    const Status status = generated::zero_shot_batch(workspace, pairs.data(), pairs.size(), results.data());
    if (status != Status::ok) {
        return status;
    }
    float* const row = scores_of(result);
    result = {};
    for (std::size_t i = 0; i < results.size(); ++i) {
        row[i] = by_itself ? results[i].probability : results[i].logits[generated::kEntailment];
        result.tokens += results[i].tokens;
        result.truncated = result.truncated || results[i].truncated;
    }
    return by_itself ? Status::ok : generated::probabilities(workspace, row, results.size());
}

inline Status answer_batch(generated::Workspace& workspace, const std::string_view* texts, std::size_t count,
                           generated::Result* results) {
    return one_by_one(answer, workspace, texts, count, results);
}

inline Status answer_tokens(generated::Workspace& workspace, const std::int32_t* ids, std::uint32_t count,
                            generated::Result& result) {
    return generated::zero_shot_tokens(workspace, ids, nullptr, count, result);
}

inline Answer view(const generated::Result& result) {
    Answer answer = {hypotheses.empty() ? &result.probability : scores_of(result), result.logits, 0, result.tokens,
                     result.truncated};
    answer.choice_count = static_cast<std::uint32_t>(hypotheses.size());
    answer.label = static_cast<std::uint32_t>(std::max_element(answer.values, answer.values + answer.choice_count) -
                                              answer.values);
    return answer;
}

}  // namespace etch::cli::task
