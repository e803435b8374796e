// SPDX-License-Identifier: Apache-2.0
// The main loop of a firmware: an interrupt collects bytes, the loop computes a text in steps between other work. The
// board gives uart_send() and feed_watchdog(), and calls uart_interrupt() with each byte.
#include <agnews_small.hpp>
#include <atomic>
#include <cstdint>

void uart_send(const char* text);
void feed_watchdog();
extern "C" void uart_interrupt(std::uint8_t byte);
void main_loop();

namespace model = etch::agnews_small;

static model::Workspace workspace;
static char line[512];                         // the interrupt's until `complete`, then the loop's
static std::atomic<std::uint32_t> size{0};     // bytes of it
static std::atomic<bool> complete{false};      // a whole line waits
constexpr std::uint64_t kStepBudget = 30'000;  // multiply-adds: a millisecond or so

extern "C" void uart_interrupt(std::uint8_t byte) {
    if (complete) return;  // one line at a time; a product counts what it drops
    const std::uint32_t at = size;
    if (byte == '\n') {
        complete = true;
    } else if (at < sizeof line) {
        line[at] = static_cast<char>(byte);
        size = at + 1;
    }
}

static void answer() {
    model::Result result;
    etch::Status status = model::begin(workspace, {line, size});
    size = 0;  // begin() has read the line: the next one may come
    complete = false;
    while (status == etch::Status::ok || status == etch::Status::in_progress) {
        feed_watchdog();
        status = model::step(workspace, kStepBudget, result);
        if (status == etch::Status::ok) break;
    }
    uart_send(status == etch::Status::ok ? model::kLabels[result.label].data() : etch::describe(status));
}

void main_loop() {
    for (;;) {
        feed_watchdog();
        if (complete) answer();
    }
}
