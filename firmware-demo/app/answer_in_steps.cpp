// SPDX-License-Identifier: Apache-2.0
// The line that begins a text, so that the main loop comes around between its steps.
#include "answer.hpp"
#include "board.hpp"

namespace firmware {

void answer(Session& session, std::string_view text) {
    board::restart_clock();
    begun(session, model::begin(session.workspace, text));
}

}  // namespace firmware
