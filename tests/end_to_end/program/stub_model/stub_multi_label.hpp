// SPDX-License-Identifier: Apache-2.0
// The words of a text are the logits of the labels, in their order; probabilities are made up but rise with them: 0.5
// for a logit of 0. With two texts the second one's words count.
#pragma once

#include "stub_shared.hpp"

namespace etch {
namespace stub {

inline constexpr Task kTask = Task::multi_label;
#if defined(STUB_ONE)
inline constexpr std::uint32_t kLabelCount = 1;
inline constexpr std::string_view kLabels[kLabelCount] = {kNames[0]};
#else
inline constexpr std::uint32_t kLabelCount = 4;
inline constexpr std::string_view kLabels[kLabelCount] = {kNames[0], kNames[1], kNames[4], kNames[6]};
#endif

struct Result {
    std::uint32_t label;
    float probability[kLabelCount];
    float logits[kLabelCount];
    std::uint32_t tokens;
    bool truncated;
};

inline Status classify(Workspace& workspace, std::string_view text, Result& result) noexcept {
    read_numbers(text, result.logits, kLabelCount);
    result.label = 0;
    for (std::uint32_t i = 0; i < kLabelCount; ++i) {
        const float logit = result.logits[i];
        result.probability[i] = 0.5F + 0.5F * logit / (1 + (logit < 0 ? -logit : logit));
        result.label = logit > result.logits[result.label] ? i : result.label;
    }
    return begin_answer(workspace, text, result);
}

inline Status classify_tokens(Workspace& workspace, const std::int32_t*, const std::uint8_t*, std::uint32_t,
                              Result& result) noexcept {
    return classify(workspace, "", result);
}

inline Status classify_batch(Workspace& workspace, const std::string_view* texts, std::size_t count,
                             Result* results) noexcept {
    return answer_each(classify, workspace, texts, count, results);
}

inline Status classify_pair(Workspace& workspace, std::string_view, std::string_view second, Result& result) noexcept {
    return kPairs ? classify(workspace, second, result) : Status::pair_not_supported;
}

}  // namespace stub
}  // namespace etch
