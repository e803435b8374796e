// SPDX-License-Identifier: Apache-2.0
// The embedding of a text is its words. With two texts the second one's words count.
#pragma once

#include "etch/prompts.hpp"
#include "stub_shared.hpp"

namespace etch {
namespace stub {

inline constexpr Task kTask = Task::embedding;
inline constexpr std::uint32_t kEmbeddingWidth = 3;

#ifdef STUB_PROMPTS
inline constexpr Prompt kPromptTexts[] = {{"one", "1 "}, {"two", "2 "}, {"none", ""}, {"one,two", "3 "}};
inline constexpr Prompts kPrompts = {kPromptTexts, 4, STUB_PROMPTS < 0 ? nullptr : kPromptTexts + STUB_PROMPTS};
#else
inline constexpr Prompts kPrompts = {nullptr, 0, nullptr};
#endif

struct Result {
    float embedding[kEmbeddingWidth];
    std::uint32_t tokens;
    bool truncated;
};

inline Status embed(Workspace& workspace, std::string_view text, Result& result) noexcept {
    read_numbers(text, result.embedding, kEmbeddingWidth);
    return begin_answer(workspace, text, result);
}

inline Status embed_tokens(Workspace& workspace, const std::int32_t*, const std::uint8_t*, std::uint32_t,
                           Result& result) noexcept {
    return embed(workspace, "", result);
}

inline Status embed_batch(Workspace& workspace, const std::string_view* texts, std::size_t count,
                          Result* results) noexcept {
    return answer_each(embed, workspace, texts, count, results);
}

inline Status embed_pair(Workspace& workspace, std::string_view, std::string_view second, Result& result) noexcept {
    return kPairs ? embed(workspace, second, result) : Status::pair_not_supported;
}

}  // namespace stub
}  // namespace etch
