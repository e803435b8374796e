// SPDX-License-Identifier: Apache-2.0
// All that the application knows of a board. boards/NAME/config.hpp says what the board has, the files beside this one
// do the rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace board {

extern const std::string_view kName;
extern const std::uint32_t kClockHz;

enum class Reception : std::uint8_t {
    nothing,
    byte,
    overrun,  // bytes came faster than they were taken: some are lost
};

struct Received {
    Reception reception;
    char byte;
};

// What the UART has; does not wait.
Received receive();

// Waits until the UART takes the byte.
void send(char byte);

// From then on feed_watchdog() has to be called again before this time is over: else the program ends with a fault
// report of exception 2, or the processor with a reset.
void start_watchdog(std::uint32_t milliseconds);
void feed_watchdog();

// A stopwatch of processor clocks: ticks() counts from the last restart_clock(). Under the emulator with
// `-icount shift=6` every instruction takes 64 ns of its time, so that it executed ticks * 1e9 / (64 * kClockHz)
// instructions.
void restart_clock();
std::uint64_t ticks();

// Bytes of RAM by kind. `stack_used` is how deep the stack has been since the start, of `stack`: it was painted then.
struct Memory {
    std::size_t statics;  // all variables, those of regions, too
    std::size_t stack;
    std::size_t stack_used;
};

Memory memory();

// Ends the program: under an emulator or a debugger with this exit code. Elsewhere it stops.
[[noreturn]] void finish(int code);

}  // namespace board
