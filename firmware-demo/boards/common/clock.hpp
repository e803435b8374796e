// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace board {

// The interrupt by which the 24 bits of SysTick become 64.
extern "C" void systick_handler();

}  // namespace board
