// SPDX-License-Identifier: Apache-2.0
// What this x86 CPU can run. Asked of the CPU each time: there is no state to initialize.
#include "sets.hpp"

#if defined(__x86_64__)

#include <cpuid.h>

#include <cstdint>

namespace etch {
inline namespace abi1 {
namespace {

// The register state that the operating system saves and restores (XCR0). Only where OSXSAVE is set.
std::uint64_t saved_state() noexcept {
    std::uint32_t low;
    std::uint32_t high;
    asm("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return std::uint64_t{high} << 32 | low;
}

}  // namespace

bool avx2_usable() noexcept {
    constexpr unsigned kOsxsaveBit = 1u << 27;  // leaf 1, ecx
    constexpr unsigned kAvxBit = 1u << 28;      // leaf 1, ecx
    constexpr unsigned kAvx2Bit = 1u << 5;      // leaf 7, ebx
    constexpr std::uint64_t kSseAndAvxState = 6;

    unsigned eax = 0;
    unsigned ebx = 0;
    unsigned ecx = 0;
    unsigned edx = 0;
    if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0) return false;
    if ((ecx & kOsxsaveBit) == 0 || (ecx & kAvxBit) == 0) return false;
    if ((saved_state() & kSseAndAvxState) != kSseAndAvxState) return false;
    if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) return false;
    return (ebx & kAvx2Bit) != 0;
}

}  // namespace abi1
}  // namespace etch

#endif
