// SPDX-License-Identifier: Apache-2.0
// An answer as a line of output.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model.hpp"

namespace etch::cli {

// {"label": …, "probability": …, "logits": […], "tokens": …, "truncated": …}
std::string answer_as_json(const Answer& answer);

// {"ids": […], "pieces": […], "offsets": [[start, end], …], "truncated": …}
std::string tokens_as_json(const Tokens& tokens);

// The `top` most probable labels, best first: label TAB probability TAB label TAB probability …
std::string answer_as_text(const Answer& answer, std::uint32_t top);

}  // namespace etch::cli
