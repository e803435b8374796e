// SPDX-License-Identifier: Apache-2.0
#include "print.hpp"

#include <cstddef>
#include <cstring>

#include "board.hpp"
#include "watchdog.hpp"

namespace firmware {
namespace {

void send(char byte) {
    board::send(byte);
    if constexpr (kWatched) board::feed_watchdog();
}

}  // namespace

void print(std::string_view text) {
    for (const char byte : text) {
        send(byte);
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

void print(Bits bits) {
    std::uint32_t word;
    std::memcpy(&word, &bits.value, sizeof word);
    for (int shift = 28; shift >= 0; shift -= 4) {
        send("0123456789ABCDEF"[(word >> shift) & 15]);
    }
}

void print(PerCent share) {
    const auto tenths = static_cast<std::uint32_t>(share.fraction * 1000.0f + 0.5f);
    print(std::uint64_t{tenths / 10});
    print(".");
    print(std::uint64_t{tenths % 10});
    print(" %");
}

void print(Escaped escaped) {
    for (const char byte : escaped.text) {
        const auto value = static_cast<std::uint8_t>(byte);
        if (byte == '\n') {
            print("\\n");
        } else if (byte == '\t') {
            print("\\t");
        } else if (byte == '\\') {
            print("\\\\");
        } else if (value < 0x20 || value == 0x7F) {
            print("\\x");
            send("0123456789ABCDEF"[value >> 4]);
            send("0123456789ABCDEF"[value & 15]);
        } else {
            send(byte);
        }
    }
}

void print_bits(const float* values, std::uint32_t count) {
    print("\t");
    for (std::uint32_t i = 0; i < count; ++i) {
        print(" ");
        print(Bits{values[i]});
    }
}

}  // namespace firmware
