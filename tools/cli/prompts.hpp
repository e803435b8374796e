// SPDX-License-Identifier: Apache-2.0
// What is written before the texts of a model that embeds, by what they are for.
#pragma once

#include <string>
#include <string_view>

#include "arguments.hpp"
#include "options.hpp"

namespace etch::cli {

extern const OptionGroup kPromptOptions;  // --prompt, --as-written

// Before a text, and before the second of two that are compared: what the command line names, else the model's usual
// prompt; empty where there is none.
std::string_view prompt_of(const Options& options);
std::string_view second_prompt_of(const Options& options);

// Refuses what does not go together.
void check_prompts(const Options& options);

std::string behind(std::string_view prompt, std::string_view text);

// For the help: the names of the model's prompts; empty where it has none.
std::string listed_prompts();

}  // namespace etch::cli
