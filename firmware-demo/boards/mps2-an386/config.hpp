// SPDX-License-Identifier: Apache-2.0
// ARM MPS2 with image AN386: Cortex-M4F.
#pragma once

#include "cmsdk_uart.hpp"
#include "cmsdk_watchdog.hpp"

namespace board::config {

inline constexpr std::string_view kName = "mps2-an386";
inline constexpr std::uint32_t kClockHz = 25000000;
inline constexpr CmsdkUart kUart{0x40004000, kClockHz / 115200};
inline constexpr CmsdkWatchdog kWatchdog{0x40008000, kClockHz};

}  // namespace board::config
