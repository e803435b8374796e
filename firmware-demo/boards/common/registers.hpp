// SPDX-License-Identifier: Apache-2.0
// Memory-mapped registers by address.
#pragma once

#include <cstdint>

namespace board {

inline volatile std::uint32_t& reg(std::uintptr_t address) {
    return *reinterpret_cast<volatile std::uint32_t*>(address);
}

// What every M-profile processor has.
inline volatile std::uint32_t& systick_control() {
    return reg(0xE000E010);
}
inline volatile std::uint32_t& systick_reload() {
    return reg(0xE000E014);
}
inline volatile std::uint32_t& systick_value() {
    return reg(0xE000E018);
}
inline volatile std::uint32_t& interrupt_control() {
    return reg(0xE000ED04);
}
inline volatile std::uint32_t& configurable_fault_status() {
    return reg(0xE000ED28);
}
inline volatile std::uint32_t& hard_fault_status() {
    return reg(0xE000ED2C);
}

}  // namespace board
