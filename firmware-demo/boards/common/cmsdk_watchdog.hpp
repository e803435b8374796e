// SPDX-License-Identifier: Apache-2.0
// The watchdog of ARM's CMSDK, as on the MPS2 and MPS3 boards. Its first alarm is the processor's NMI; a second one
// would be a reset.
#pragma once

#include "registers.hpp"

namespace board {

struct CmsdkWatchdog {
    std::uintptr_t base;
    std::uint32_t clock_hz;

    void start(std::uint32_t milliseconds) const {
        lock() = kUnlock;
        load() = static_cast<std::uint32_t>(std::uint64_t{clock_hz} * milliseconds / 1000);
        control() = kInterrupt | kReset;
    }

    // Any value: it counts down from the beginning again.
    void feed() const { clear() = 1; }

  private:
    static constexpr std::uint32_t kUnlock = 0x1ACCE551;
    static constexpr std::uint32_t kInterrupt = 1;  // of control
    static constexpr std::uint32_t kReset = 2;

    volatile std::uint32_t& load() const { return reg(base); }
    volatile std::uint32_t& control() const { return reg(base + 8); }
    volatile std::uint32_t& clear() const { return reg(base + 12); }
    volatile std::uint32_t& lock() const { return reg(base + 0xC00); }
};

}  // namespace board
