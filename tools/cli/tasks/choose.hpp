// SPDX-License-Identifier: Apache-2.0
// How a model that chooses is called. Included by model.cpp only, after the generated header.
#pragma once

#include <algorithm>
#include <vector>

#include "../one_by_one.hpp"

namespace etch::cli {
extern const TaskFace kChooseFace;
}  // namespace etch::cli

namespace etch::cli::task {

inline constexpr std::uint32_t kWidth = generated::kScoreCount;
inline constexpr const TaskFace& kFace = kChooseFace;
inline constexpr AppendFields* kAppendFields = append_choices;

inline std::string_view name(std::uint32_t) {
    return {};  // choices have the names that a user gives them
}

// Of the last prompt that had choices. Prompts without may be answered by several threads, which leave these alone.
inline std::vector<float> scores;
inline std::vector<float> probabilities;
inline const generated::Result* chosen = nullptr;  // whose scores they are

// A result needs no room of its own.
inline void make_room(generated::Result*, std::size_t, const Wanted&) {
    chosen = nullptr;
}

// The prompt, and the choices behind it with a TAB between them.
inline Status answer(generated::Workspace& workspace, const Text& text, generated::Result& result) {
    if (!text.pair) {
        return generated::choose_text(workspace, text.first, result);
    }
    std::vector<TextPair> pairs;
    for (std::string_view rest = text.second;;) {
        const std::size_t tab = rest.find('\t');
        pairs.push_back({text.first, rest.substr(0, tab)});
        if (tab == std::string_view::npos) {
            break;
        }
        rest.remove_prefix(tab + 1);
    }
    std::vector<generated::Result> results(pairs.size());
    Status status = generated::choose_batch(workspace, pairs.data(), pairs.size(), results.data());
    if (status != Status::ok) {
        return status;
    }
    result = {};
    scores.clear();
    for (const generated::Result& one : results) {
        scores.push_back(one.score[0]);
        result.tokens += one.tokens;
        result.truncated = result.truncated || one.truncated;
    }
    probabilities = scores;
    status = generated::probabilities(workspace, probabilities.data(), probabilities.size());
    chosen = &result;
    return status;
}

inline Status answer_batch(generated::Workspace& workspace, const std::string_view* texts, std::size_t count,
                           generated::Result* results) {
    return one_by_one(answer, workspace, texts, count, results);
}

inline Status answer_tokens(generated::Workspace& workspace, const std::int32_t* ids, std::uint32_t count,
                            generated::Result& result) {
    return generated::choose_tokens(workspace, ids, nullptr, count, result);
}

inline Answer view(const generated::Result& result) {
    static constexpr float kOnly = 1;
    Answer answer = {&kOnly, result.score, 0, result.tokens, result.truncated};
    answer.choice_count = 1;
    if (&result == chosen) {
        answer.values = probabilities.data();
        answer.logits = scores.data();
        answer.label = static_cast<std::uint32_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
        answer.choice_count = static_cast<std::uint32_t>(scores.size());
    }
    return answer;
}

}  // namespace etch::cli::task
