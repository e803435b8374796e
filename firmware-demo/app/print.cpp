// SPDX-License-Identifier: Apache-2.0
#include "print.hpp"

#include <cstddef>

#include "board.hpp"

namespace firmware {

void print(std::string_view text) {
    for (const char byte : text) {
        board::send(byte);
    }
}

void print(std::uint64_t number) {
    char digits[20];
    std::size_t first = sizeof digits;
    do {
        digits[--first] = static_cast<char>('0' + number % 10);
        number /= 10;
    } while (number != 0);
    print(std::string_view(digits + first, sizeof digits - first));
}

void print(Hex hex) {
    for (int shift = 28; shift >= 0; shift -= 4) {
        board::send("0123456789ABCDEF"[(hex.value >> shift) & 15]);
    }
}

void print(PerCent share) {
    const auto tenths = static_cast<std::uint32_t>(share.fraction * 1000.0f + 0.5f);
    print(std::uint64_t{tenths / 10});
    print(".");
    print(std::uint64_t{tenths % 10});
    print(" %");
}

}  // namespace firmware
