// SPDX-License-Identifier: Apache-2.0
// The lines that use the model. A product keeps these and sends the label where it is needed.
#include "answer.hpp"

#include "board.hpp"

namespace firmware {

void answer(Session& session, std::string_view text) {
    model::Result result;
    prepare(session, result);
    board::restart_clock();
    const etch::Status status = model::FIRMWARE_CALL(session.workspace, text, result);
    session.last_ticks = board::ticks();
    print_answer(session, status, result);
}

}  // namespace firmware
