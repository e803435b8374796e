// SPDX-License-Identifier: Apache-2.0
// Text and numbers to the board's UART.
#pragma once

#include <cstdint>
#include <string_view>

#include "board.hpp"

namespace output {

inline void print(std::string_view text) {
    for (const char byte : text)
        board::send(byte);
}

inline void print(std::uint64_t number) {
    char digits[20];
    std::size_t at = sizeof digits;
    do {
        digits[--at] = static_cast<char>('0' + number % 10);
        number /= 10;
    } while (number != 0);
    print(std::string_view(digits + at, sizeof digits - at));
}

}  // namespace output
