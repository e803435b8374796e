// SPDX-License-Identifier: Apache-2.0
// ARM MPS2 with image AN505: Cortex-M33, in its secure state.
#pragma once

#include "cmsdk_uart.hpp"
#include "cmsdk_watchdog.hpp"

namespace board::config {

inline constexpr std::string_view kName = "mps2-an505";
inline constexpr std::uint32_t kClockHz = 20000000;
inline constexpr CmsdkUart kUart{0x50200000, kClockHz / 115200};
inline constexpr CmsdkWatchdog kWatchdog{0x50081000, kClockHz};

}  // namespace board::config
