// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "session.hpp"

namespace firmware {

// Classifies a text and answers with one line: label, per cent, tokens, whether it was cut, logits if wanted. A build
// in steps only begins: session.computing then, until go_on() has answered.
void answer(Session& session, std::string_view text);

// The next step. Of a build in steps.
void go_on(Session& session);

void print_answer(const Session& session, etch::Status status, const model::Result& result);

}  // namespace firmware
