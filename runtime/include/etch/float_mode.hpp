// SPDX-License-Identifier: Apache-2.0
// How a processor rounds floats, which the program around a call may have changed, and with it every bit of an answer.
#pragma once

#include <cstdint>

#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

#if defined(__SSE2__)
// MXCSR: rounding in bits 13 and 14, flush to zero in 15, denormals are zero in 6, a mask for each exception in 7 to
// 12; below them what operations have raised.
struct FloatControl {
    static constexpr std::uint32_t kBits = 0xFFC0;
    static constexpr std::uint32_t kContract = 0x1F80;

    static std::uint32_t read() noexcept {
        std::uint32_t value;
        asm volatile("stmxcsr %0" : "=m"(value) : : "memory");
        return value;
    }
    static void write(std::uint32_t value) noexcept { asm volatile("ldmxcsr %0" : : "m"(value) : "memory"); }
};
#elif defined(__aarch64__)
// FPCR: rounding in bits 22 and 23, flush to zero in 24 and, of half floats, 19; default NaN, alternative half floats,
// traps and variants of later processors in the others.
struct FloatControl {
    static constexpr std::uint64_t kBits = 0x07C89F07;
    static constexpr std::uint64_t kContract = 0;

    static std::uint64_t read() noexcept {
        std::uint64_t value;
        asm volatile("mrs %0, fpcr" : "=r"(value) : : "memory");
        return value;
    }
    static void write(std::uint64_t value) noexcept { asm volatile("msr fpcr, %0" : : "r"(value) : "memory"); }
};
#elif defined(__arm__) && defined(__ARM_FP)
// FPSCR: rounding in bits 22 and 23, flush to zero in 24 and, of half floats, 19; default NaN and alternative half
// floats in 25 and 26.
struct FloatControl {
    static constexpr std::uint32_t kBits = 0x07C80000;
    static constexpr std::uint32_t kContract = 0;

    static std::uint32_t read() noexcept {
        std::uint32_t value;
        asm volatile("vmrs %0, fpscr" : "=r"(value) : : "memory", "cc");
        return value;
    }
    static void write(std::uint32_t value) noexcept { asm volatile("vmsr fpscr, %0" : : "r"(value) : "memory", "cc"); }
};
#elif defined(__riscv_flen)
// The field frm of fcsr: rounding, the one thing that a RISC-V processor can be told.
struct FloatControl {
    static constexpr std::uint32_t kBits = 7;
    static constexpr std::uint32_t kContract = 0;

    static std::uint32_t read() noexcept {
        std::uint32_t value;
        asm volatile("frrm %0" : "=r"(value) : : "memory");
        return value;
    }
    static void write(std::uint32_t value) noexcept { asm volatile("fsrm %0" : : "r"(value) : "memory"); }
};
#else
// Floats are computed by the compiler's own library, which knows one rounding; of other processors nothing is promised.
struct FloatControl {
    static constexpr std::uint32_t kBits = 0;
    static constexpr std::uint32_t kContract = 0;

    static std::uint32_t read() noexcept { return 0; }
    static void write(std::uint32_t) noexcept {}
};
#endif

// While it lives, the thread that made it rounds to nearest even, keeps subnormals and traps at nothing, as the
// arithmetic contract wants it; then it has its own ways again. Costs a look at a register where the thread does so
// anyway. What is computed meanwhile is written to memory, or by a function that is not inlined: a compiler knows
// nothing of modes and may move a value that lies in a register past either end.
class FloatMode {
  public:
    FloatMode() noexcept : before_(FloatControl::read()) {
        if (differs()) FloatControl::write((before_ & ~FloatControl::kBits) | FloatControl::kContract);
    }
    ~FloatMode() {
        if (differs()) FloatControl::write(before_);
    }
    FloatMode(const FloatMode&) = delete;
    FloatMode& operator=(const FloatMode&) = delete;

  private:
    bool differs() const noexcept { return (before_ & FloatControl::kBits) != FloatControl::kContract; }

    decltype(FloatControl::read()) before_;
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
