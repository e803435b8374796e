// SPDX-License-Identifier: Apache-2.0
// What is counted of a text that is computed in steps: ticks in the model, not those in which an answer is sent or a
// byte taken.
#pragma once

#include "board.hpp"
#include "session.hpp"

namespace firmware {

// Behind the model's begin(), since the clock was restarted.
inline void count_begin(Session& session, etch::Status status) {
    session.last_ticks = board::ticks();
    session.steps = {};
    session.computing = status == etch::Status::ok;
}

// Behind a step that began at `before`.
inline void count_step(Session& session, std::uint64_t before, etch::Status status) {
    const std::uint64_t spent = board::ticks() - before;
    session.last_ticks += spent;
    ++session.steps.count;
    if (spent > session.steps.longest) session.steps.longest = spent;
    session.computing = status == etch::Status::in_progress;
}

}  // namespace firmware
