// SPDX-License-Identifier: Apache-2.0
// The USART of STM32F4 processors. The emulator needs neither its clock nor its pins set up: a product does that in
// start().
#pragma once

#include "board.hpp"
#include "registers.hpp"

namespace board {

struct Stm32Usart {
    std::uintptr_t base;
    std::uint32_t baud_divider;  // clocks of its bus per bit

    void start() const {
        baud() = baud_divider;
        control() = kEnable | kTransmit | kReceive;
    }

    Received receive() const {
        const std::uint32_t now = status();
        if ((now & kReceiveFull) == 0 && (now & kOverrun) == 0) return {Reception::nothing, 0};
        const char byte = static_cast<char>(data());  // reading status, then data clears both
        return (now & kOverrun) != 0 ? Received{Reception::overrun, 0} : Received{Reception::byte, byte};
    }

    void send(char byte) const {
        while ((status() & kTransmitEmpty) == 0) {
        }
        data() = static_cast<unsigned char>(byte);
    }

  private:
    static constexpr std::uint32_t kEnable = 1u << 13;  // of control
    static constexpr std::uint32_t kTransmit = 1u << 3;
    static constexpr std::uint32_t kReceive = 1u << 2;
    static constexpr std::uint32_t kOverrun = 1u << 3;  // of status
    static constexpr std::uint32_t kReceiveFull = 1u << 5;
    static constexpr std::uint32_t kTransmitEmpty = 1u << 7;

    volatile std::uint32_t& status() const { return reg(base); }
    volatile std::uint32_t& data() const { return reg(base + 4); }
    volatile std::uint32_t& baud() const { return reg(base + 8); }
    volatile std::uint32_t& control() const { return reg(base + 12); }
};

}  // namespace board
