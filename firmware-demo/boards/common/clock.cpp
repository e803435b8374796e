// SPDX-License-Identifier: Apache-2.0
// SysTick, which every M-profile processor has: 24 bits that count processor clocks down, and an interrupt each time
// they have run out.
#include "clock.hpp"

#include "board.hpp"
#include "registers.hpp"

namespace board {
namespace {

constexpr std::uint32_t kPeriod = 1u << 24;
constexpr std::uint32_t kOn = 7;              // of control: processor clock, interrupt, counter
constexpr std::uint32_t kPending = 1u << 26;  // of interrupt control

volatile std::uint32_t periods;

}  // namespace

void restart_clock() {
    systick_control() = 0;
    periods = 0;
    systick_reload() = kPeriod - 1;
    systick_value() = 0;
    systick_control() = kOn;
}

extern "C" void systick_handler() {
    periods = periods + 1;
}

std::uint64_t ticks() {
    for (;;) {
        const std::uint32_t before = periods;
        const std::uint32_t value = systick_value();
        const bool ran_out = (interrupt_control() & kPending) != 0;
        // Read again where the interrupt came in between or is about to. A value of 0 is the beginning of a period.
        if (!ran_out && before == periods) return std::uint64_t{before} * kPeriod + (kPeriod - value) % kPeriod;
    }
}

}  // namespace board
