// SPDX-License-Identifier: Apache-2.0
// The lines that use the model in steps, whatever was begun.
#include "answer.hpp"
#include "timing.hpp"

namespace firmware {

void begun(Session& session, etch::Status status) {
    count_begin(session, status);
    if (!session.computing) print_answer(session, status, {});
}

void go_on(Session& session) {
    model::Result result;
    prepare(session, result);
    const std::uint64_t before = board::ticks();
    const etch::Status status = model::step(session.workspace, session.budget, result);
    count_step(session, before, status);
    if (!session.computing) print_answer(session, status, result);
}

}  // namespace firmware
