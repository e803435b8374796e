// SPDX-License-Identifier: Apache-2.0
// ARM MPS3 with image AN547: Cortex-M55 with Helium, in its secure state.
#pragma once

#include "cmsdk_uart.hpp"
#include "cmsdk_watchdog.hpp"

namespace board::config {

inline constexpr std::string_view kName = "mps3-an547";
inline constexpr std::uint32_t kClockHz = 32000000;
inline constexpr CmsdkUart kUart{0x59303000, kClockHz / 115200};
inline constexpr CmsdkWatchdog kWatchdog{0x5802E000, 32768};

}  // namespace board::config
