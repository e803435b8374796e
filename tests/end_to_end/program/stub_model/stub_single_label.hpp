// SPDX-License-Identifier: Apache-2.0
// The label of a text is the number that the text begins with, 0 if none; a second text's number is the count of
// tokens.
#pragma once

#include "stub_shared.hpp"

namespace etch {
namespace stub {

inline constexpr Task kTask = Task::single_label;
inline constexpr std::uint32_t kLabelCount = 22;
inline constexpr std::string_view kLabels[kLabelCount] = {kNames[0], kNames[1], kNames[2],  kNames[3],
                                                          kNames[4], kNames[5], kNames[6],  kNames[7],
                                                          kNames[8], kNames[9], kNames[10], kNames[11]};

struct Result {
    std::uint32_t label;
    float probability[kLabelCount];
    float logits[kLabelCount];
    std::uint32_t tokens;
    bool truncated;
};

inline Status classify_tokens(Workspace&, const std::int32_t*, const std::uint8_t*, std::uint32_t count,
                              Result& result) noexcept {
    for (std::uint32_t i = 0; i < kLabelCount; ++i) {
        result.logits[i] = -0.1F;
        result.probability[i] = 0.0F;
    }
    result.label = 0;
    result.tokens = count;
    result.truncated = false;
    return Status::ok;
}

inline Status classify(Workspace& workspace, std::string_view text, Result& result) noexcept {
    classify_tokens(workspace, nullptr, nullptr, 0, result);
    result.label = leading_number(text) % kLabelCount;
    result.logits[result.label] = 1e-7F;
    result.probability[result.label] = 0.999999881F;
    return begin_answer(workspace, text, result);
}

inline Status classify_batch(Workspace& workspace, const std::string_view* texts, std::size_t count,
                             Result* results) noexcept {
    return answer_each(classify, workspace, texts, count, results);
}

inline Status classify_pair(Workspace& workspace, std::string_view first, std::string_view second,
                            Result& result) noexcept {
    if (!kPairs) {
        return Status::pair_not_supported;
    }
    const Status status = classify(workspace, first, result);
    result.tokens = leading_number(second);
    return status;
}

}  // namespace stub
}  // namespace etch
