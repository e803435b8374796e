// SPDX-License-Identifier: Apache-2.0
// Conversations with a model that was trained on some.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "arguments.hpp"
#include "options.hpp"

namespace etch::cli {

extern const OptionGroup kChatOptions;  // --chat, --system, --turns

// Refuses what does not go together, and conversations with a model that has none.
void check_chat(const Options& options);

// What the model reads: the user's messages and its own in turn, the user's first and last.
std::string chat_of(const Options& options, const std::vector<std::string_view>& messages);

}  // namespace etch::cli
