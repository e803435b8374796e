// SPDX-License-Identifier: Apache-2.0
// Text in over a UART, a label or a text out: each line gets one line back. Send the next line after the answer:
// nothing takes bytes while the model computes; a build in steps does between two of them, up to the end of the next
// line.
#include "answer.hpp"
#include "board.hpp"
#include "line_reader.hpp"
#include "print.hpp"
#include "watchdog.hpp"

namespace {

using namespace firmware;

// The rest is for these files, an interrupt and a fault's report; the build checks the sum against the call graph.
static_assert(BOARD_STACK_BYTES >= model::kStackBudget + 512, "raise ETCH_FIRMWARE_STACK");

#if FIRMWARE_REGIONS
// The linker script says where the buffers of the region beside the workspace are, and where this is.
alignas(64) std::uint8_t beside[model::Workspace::Beside::kBytes[0]] __attribute__((section(".bss.fast")));
Session session __attribute__((section(".bss.slow")));
#else
Session session;
#endif
LineReader reader;

void reply(LineEvent event) {
    switch (event) {
        case LineEvent::none:
            return;
        case LineEvent::line:
            return reader.text()[0] == '!' ? obey(session, reader.text()) : answer(session, reader.text());
        case LineEvent::empty:
            return print_line("error empty-line");
        case LineEvent::too_long:
            return print_line("error line-too-long: more than ", std::uint64_t{LineReader::kLineBytes}, " bytes");
        case LineEvent::invalid_utf8:
            return print_line("error invalid-utf8: at byte ", std::uint64_t{reader.invalid_at()});
        case LineEvent::overrun:
            return print_line("error overrun: the UART lost bytes, send the line again");
    }
}

// Takes bytes, if there are any, up to the end of a line.
LineEvent poll() {
    for (;;) {
        const board::Received received = board::receive();
        if (received.reception == board::Reception::nothing) return LineEvent::none;
        if (session.computing) ++session.steps.received;
        if (received.reception == board::Reception::overrun) {
            reader.lose();
            continue;
        }
        const LineEvent event = reader.take(received.byte);
        if (event != LineEvent::none) return event;
    }
}

}  // namespace

int main() {
    model::Workspace::Tables::copy();  // those of a model with tables that are copied
#if FIRMWARE_REGIONS
    session.workspace.regions[0] = beside;
#endif
    print_line("ready: ", model::kModelName, " ", model::kRecipe, ", kernels ", model::kernel(session.workspace),
               ", on ", board::kName, "; !help");
    session.budget = kStepBudget;
    session.aggregation = etch::Aggregation::simple;
    if constexpr (kWatched) board::start_watchdog(kWatchdogMilliseconds);
    LineEvent waiting = LineEvent::none;  // a whole line that came while the answer to another one was computed
    for (;;) {
        if constexpr (kWatched) board::feed_watchdog();
        if constexpr (kInSteps) {
            if (session.computing) go_on(session);
        }
        if (waiting == LineEvent::none) waiting = poll();
        if (session.computing) continue;
        reply(waiting);
        waiting = LineEvent::none;
    }
}
