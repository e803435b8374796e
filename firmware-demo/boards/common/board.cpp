// SPDX-License-Identifier: Apache-2.0
// The board's UART, watchdog and name behind board.hpp.
#include "board.hpp"

#include "config.hpp"

namespace board {

constexpr std::string_view kName = config::kName;
constexpr std::uint32_t kClockHz = config::kClockHz;

Received receive() {
    return config::kUart.receive();
}

void send(char byte) {
    config::kUart.send(byte);
}

void start_watchdog(std::uint32_t milliseconds) {
    config::kWatchdog.start(milliseconds);
}

void feed_watchdog() {
    config::kWatchdog.feed();
}

}  // namespace board
