// SPDX-License-Identifier: Apache-2.0
// The independent watchdog of STM32F4 processors, which resets them. The emulator has none: there it never bites.
#pragma once

#include "registers.hpp"

namespace board {

struct Stm32Watchdog {
    std::uintptr_t base;

    // Up to 4 s. Its own oscillator has about 32 kHz.
    void start(std::uint32_t milliseconds) const {
        key() = kStart;
        key() = kUnlock;
        prescaler() = kBy32;
        reload() = milliseconds;
        feed();
    }

    void feed() const { key() = kFeed; }

  private:
    static constexpr std::uint32_t kStart = 0xCCCC;  // keys
    static constexpr std::uint32_t kUnlock = 0x5555;
    static constexpr std::uint32_t kFeed = 0xAAAA;
    static constexpr std::uint32_t kBy32 = 3;

    volatile std::uint32_t& key() const { return reg(base); }
    volatile std::uint32_t& prescaler() const { return reg(base + 4); }
    volatile std::uint32_t& reload() const { return reg(base + 8); }
};

}  // namespace board
