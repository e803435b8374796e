// SPDX-License-Identifier: Apache-2.0
// The lines that use the model in steps, whatever was begun.
#include "answer.hpp"
#include "board.hpp"

namespace firmware {

void begun(Session& session, etch::Status status) {
    session.last_ticks = board::ticks();
    session.steps = {};
    session.computing = status == etch::Status::ok;
    if (!session.computing) print_answer(session, status, {});
}

void go_on(Session& session) {
    model::Result result;
    prepare(result);
    const std::uint64_t before = board::ticks();
    const etch::Status status = model::step(session.workspace, session.budget, result);
    session.last_ticks = board::ticks();
    const std::uint64_t spent = session.last_ticks - before;
    ++session.steps.count;
    if (spent > session.steps.longest) session.steps.longest = spent;
    session.computing = status == etch::Status::in_progress;
    if (!session.computing) print_answer(session, status, result);
}

}  // namespace firmware
