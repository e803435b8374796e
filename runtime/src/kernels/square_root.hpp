// SPDX-License-Identifier: Apache-2.0
// The correctly rounded square root, also where the CPU has none: there the compiler would call the C library's.
#pragma once

#include <cmath>
#include <cstdint>

#include "device.hpp"
#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

// For finite x that are normal, or zero. With x = m * 2^(2e) and m of 24 or 25 bits, the root's 24 bits are found one
// by one; what is left over says how to round: the root is never half-way between two floats.
[[maybe_unused]] inline float square_root_by_integers(float x) noexcept {
    std::uint32_t bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    if (bits << 1 == 0) return x;
    const std::uint32_t exponent = bits >> 23;  // biased by 127
    const std::uint64_t mantissa = (bits & 0x7FFFFFu) | 0x800000u;
    const std::uint64_t square = mantissa << (exponent % 2 == 0 ? 24 : 23);
    std::uint32_t root = 0;
    for (std::uint32_t bit = 0x800000u; bit != 0; bit >>= 1) {
        const std::uint32_t with = root | bit;
        if (std::uint64_t{with} * with <= square) root = with;
    }
    if (square - std::uint64_t{root} * root > root) ++root;
    bits = ((exponent + 127) / 2 << 23) + (root - 0x800000u);
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}

ETCH_DEVICE inline float square_root(float x) noexcept {
#if defined(__arm__) && (!defined(__ARM_FP) || (__ARM_FP & 4) == 0)
    return square_root_by_integers(x);
#else
    return std::sqrt(x);
#endif
}

}  // namespace
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
