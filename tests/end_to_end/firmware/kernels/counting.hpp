// SPDX-License-Identifier: Apache-2.0
// What programs that count instructions share.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "output.hpp"

namespace counting {

// Since the clock was restarted: the emulator gives every instruction 64 ns.
inline std::uint64_t instructions() {
    return board::ticks() * 15'625'000 / board::kClockHz;
}

// Names the type, behind "T = ".
template <class T>
constexpr std::string_view type_text() noexcept {
    return __PRETTY_FUNCTION__;
}

inline void print_numbers(std::initializer_list<std::uint64_t> numbers) noexcept {
    for (const std::uint64_t number : numbers) {
        output::print(" ");
        output::print(number);
    }
}

}  // namespace counting
