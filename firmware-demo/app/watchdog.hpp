// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace firmware {

// Where the build asked for steps. The main loop feeds it, and print() with each byte: at 115,200 baud 1,152 of them
// take as long as it waits.
constexpr bool kWatched = FIRMWARE_WATCHED;
constexpr std::uint32_t kWatchdogMilliseconds = 100;

}  // namespace firmware
