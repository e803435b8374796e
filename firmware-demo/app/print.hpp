// SPDX-License-Identifier: Apache-2.0
// Text to the UART.
#pragma once

#include <cstdint>
#include <string_view>

namespace firmware {

struct Bits {  // 8 hex digits
    float value;
};

struct PerCent {  // "97.3 %"
    float fraction;
};

struct Escaped {  // on one line: "\\n", "\\t", "\\\\", other control characters as "\\x1B"
    std::string_view text;
};

void print(std::string_view text);
void print(std::uint64_t number);
void print(Bits bits);
void print(PerCent share);
void print(Escaped escaped);

// A TAB, then of each float its bits behind a blank.
void print_bits(const float* values, std::uint32_t count);

template <class... Pieces>
void print_line(const Pieces&... pieces) {
    (print(pieces), ...);
    print("\n");
}

}  // namespace firmware
