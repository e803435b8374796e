// SPDX-License-Identifier: Apache-2.0
// Text to the UART.
#pragma once

#include <cstdint>
#include <string_view>

namespace firmware {

struct Hex {  // 8 digits
    std::uint32_t value;
};

struct PerCent {  // "97.3 %"
    float fraction;
};

void print(std::string_view text);
void print(std::uint64_t number);
void print(Hex hex);
void print(PerCent share);

template <class... Pieces>
void print_line(const Pieces&... pieces) {
    (print(pieces), ...);
    print("\n");
}

}  // namespace firmware
