// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <agnews_small.hpp>
#include <cstdint>
#include <string_view>

namespace firmware {

namespace model = etch::agnews_small;

// All that lasts from one line to the next.
struct Session {
    model::Workspace workspace;
    bool shows_logits = false;
    std::uint64_t last_ticks = 0;  // of the last text
};

// Classifies a text and answers with one line: label, per cent, tokens, whether it was cut, logits if wanted.
void answer(Session& session, std::string_view text);

// Obeys a line that begins with '!' and answers with one line.
void obey(Session& session, std::string_view command);

}  // namespace firmware
