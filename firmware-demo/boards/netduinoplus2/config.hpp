// SPDX-License-Identifier: Apache-2.0
// Netduino Plus 2: STM32F405, Cortex-M4F. The clock is what the emulator has: the chip starts with 16 MHz.
#pragma once

#include "stm32_usart.hpp"
#include "stm32_watchdog.hpp"

namespace board::config {

inline constexpr std::string_view kName = "netduinoplus2";
inline constexpr std::uint32_t kClockHz = 168000000;
inline constexpr Stm32Usart kUart{0x40011000, 84000000 / 115200};
inline constexpr Stm32Watchdog kWatchdog{0x40003000};

}  // namespace board::config
