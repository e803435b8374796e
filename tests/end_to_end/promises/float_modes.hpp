// SPDX-License-Identifier: Apache-2.0
// How a thread treats floats, in all ways that a program may have chosen.
#pragma once

#include <cstdint>
#include <vector>

namespace promises {

#if defined(__x86_64__)
using FloatBits = std::uint32_t;
constexpr FloatBits kUsual = 0x1F80;
constexpr FloatBits kControl = 0xFFC0;  // but for the exceptions that were raised
constexpr FloatBits kRoundUp = 0x4000;
constexpr FloatBits kFlush = 0x8040;  // results and inputs

inline FloatBits float_bits() {
    FloatBits value;
    asm volatile("stmxcsr %0" : "=m"(value) : : "memory");
    return value & kControl;
}
inline void set_float_bits(FloatBits value) {
    asm volatile("ldmxcsr %0" : : "m"(value) : "memory");
}

// The four ways to round, subnormals kept or flushed; last with traps, where a call that leaves them on is killed.
inline std::vector<FloatBits> all_float_bits() {
    std::vector<FloatBits> all;
    for (FloatBits rounding = 0; rounding < 4; ++rounding) {
        for (const FloatBits flush : {0x0000u, 0x8000u, 0x0040u, 0x8040u})
            all.push_back(kUsual | rounding << 13 | flush);
    }
    all.push_back(kUsual & ~FloatBits{0x1F80});
    return all;
}
#elif defined(__aarch64__)
using FloatBits = std::uint64_t;
constexpr FloatBits kUsual = 0;
constexpr FloatBits kRoundUp = 1u << 22;
constexpr FloatBits kFlush = 1u << 24;

inline FloatBits float_bits() {
    FloatBits value;
    asm volatile("mrs %0, fpcr" : "=r"(value) : : "memory");
    return value;
}
inline void set_float_bits(FloatBits value) {
    asm volatile("msr fpcr, %0" : : "r"(value) : "memory");
}

inline std::vector<FloatBits> all_float_bits() {
    std::vector<FloatBits> all;
    for (FloatBits rounding = 0; rounding < 4; ++rounding) {
        for (const FloatBits flush : {FloatBits{0}, kFlush})
            all.push_back(rounding << 22 | flush);
    }
    return all;
}
#elif defined(__riscv_flen)
using FloatBits = std::uint32_t;
constexpr FloatBits kUsual = 0;
constexpr FloatBits kRoundUp = 3;
constexpr FloatBits kFlush = kUsual;  // there is no such way

inline FloatBits float_bits() {
    FloatBits value;
    asm volatile("frrm %0" : "=r"(value) : : "memory");
    return value;
}
inline void set_float_bits(FloatBits value) {
    asm volatile("fsrm %0" : : "r"(value) : "memory");
}

inline std::vector<FloatBits> all_float_bits() {
    return {0, 1, 2, 3, 4};
}
#endif

// Whether this processor does as it is told; one that does not cannot test anything.
inline bool float_bits_have_effect() {
    volatile float one = 1.0f;
    volatile float three = 3.0f;
    volatile float tiny = 1e-38f;
    const volatile float nearest = one / three;
    set_float_bits(kUsual | kRoundUp);
    const volatile float up = -one / three;
    set_float_bits(kUsual | kFlush);
    const volatile float flushed = tiny * 0.01f;
    set_float_bits(kUsual);
    const volatile float kept = tiny * 0.01f;
    return up != -nearest && (kFlush == kUsual || flushed == 0.0f) && kept != 0.0f;
}

}  // namespace promises
