// SPDX-License-Identifier: Apache-2.0
// The UART of ARM's CMSDK, as on the MPS2 and MPS3 boards.
#pragma once

#include "board.hpp"
#include "registers.hpp"

namespace board {

struct CmsdkUart {
    std::uintptr_t base;
    std::uint32_t baud_divider;  // processor clocks per bit, at least 16

    void start() const {
        baud() = baud_divider;
        control() = kTransmit | kReceive;
    }

    Received receive() const {
        const std::uint32_t now = state();
        if ((now & kOverrun) != 0) {
            state() = kOverrun;  // writing the bit clears it
            return {Reception::overrun, 0};
        }
        if ((now & kReceiveFull) == 0) return {Reception::nothing, 0};
        return {Reception::byte, static_cast<char>(data())};
    }

    void send(char byte) const {
        while ((state() & kTransmitFull) != 0) {
        }
        data() = static_cast<unsigned char>(byte);
    }

  private:
    static constexpr std::uint32_t kTransmit = 1;  // of control
    static constexpr std::uint32_t kReceive = 2;
    static constexpr std::uint32_t kTransmitFull = 1;  // of state
    static constexpr std::uint32_t kReceiveFull = 2;
    static constexpr std::uint32_t kOverrun = 8;

    volatile std::uint32_t& data() const { return reg(base); }
    volatile std::uint32_t& state() const { return reg(base + 4); }
    volatile std::uint32_t& control() const { return reg(base + 8); }
    volatile std::uint32_t& baud() const { return reg(base + 16); }
};

}  // namespace board
