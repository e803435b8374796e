// SPDX-License-Identifier: Apache-2.0
// The ids of a conversation by the functions for C: SYSTEM, empty where there is none, then the messages.
#include <cstdio>
#include <string>
#include <vector>

#include "story.h"
#include ETCH_MODEL_HEADER

int main(int argc, char** argv) {
    static etch_story_workspace workspace;
    static etch_story_encoding encoding;
    std::vector<etch_text> messages;
    for (int i = 2; i < argc; ++i) {
        const std::string_view message = argv[i];
        messages.push_back({message.data(), message.size()});
    }
    const std::string_view said = argv[1];
    const etch_text system = {said.data(), said.size()};
    const etch_text* const behind = said.empty() ? nullptr : &system;
    const std::size_t size = etch_story_chat_text(behind, messages.data(), messages.size(), nullptr, 0);
    std::string text(size, '\0');
    if (etch_story_chat_text(behind, messages.data(), messages.size(), text.data(), size) != size) return 1;
    workspace.special_tokens = ETCH_SPECIAL_TOKENS_IN_TEXT;
    if (etch_story_encode(&workspace, text.data(), text.size(), &encoding) != ETCH_OK || encoding.truncated) return 1;
    for (std::uint32_t i = 0; i < encoding.count; ++i)
        std::printf("%d ", static_cast<int>(encoding.ids[i]));
    return 0;
}
