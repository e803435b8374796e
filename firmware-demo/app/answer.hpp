// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "session.hpp"

namespace firmware {

// Answers a text with one line: label, per cent, tokens, whether it was cut, logits if wanted; entities; pieces for
// masks; how near it is to the text before; the answer to a question; the best choice; whether a text follows another;
// what each head says; or a text that is written, how many tokens that are, tokens, whether it was cut, why it ended,
// its score if wanted. A build in steps only begins: session.computing then, until go_on() has answered.
void answer(Session& session, std::string_view text);

// The next step. Of a build in steps.
void go_on(Session& session);

// What begin() of the model has returned, since the clock was restarted: a refusal is answered. Of a build in steps.
void begun(Session& session, etch::Status status);

// What the line of an answer is, by what the model does: questions.cpp, pairs.cpp, heads.cpp, print_answer.cpp,
// print_tags.cpp, print_masks.cpp or print_embedding.cpp. prepare() comes before each call that may fill in a result.
void prepare(const Session& session, model::Result& result);
void print_answer(Session& session, etch::Status status, const model::Result& result);

}  // namespace firmware
