// SPDX-License-Identifier: Apache-2.0
// What this AArch64 CPU can run. Asked of the CPU each time: there is no state to initialize.
#include "sets.hpp"

#if defined(__aarch64__)

#include <cstdint>

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// AArch64 begins with it.
bool neon_usable() noexcept {
    return true;
}

bool neon_dotprod_usable() noexcept {
#if defined(__ARM_FEATURE_DOTPROD)
    return true;
#elif defined(__linux__)
    // Linux answers a program that reads this register, since 4.11; getauxval would need the C library.
    std::uint64_t instructions;
    asm("mrs %0, ID_AA64ISAR0_EL1" : "=r"(instructions));
    return (instructions >> 44 & 0xF) >= 1;  // field DP
#else
    return false;
#endif
}

bool neon_i8mm_usable() noexcept {
#if defined(__ARM_FEATURE_MATMUL_INT8)
    return neon_dotprod_usable();
#elif defined(__linux__)
    // The same: HWCAP2_I8MM is made of this field, which Linux shows since 5.6, 0 before.
    std::uint64_t instructions;
    asm("mrs %0, ID_AA64ISAR1_EL1" : "=r"(instructions));
    return (instructions >> 52 & 0xF) >= 1 && neon_dotprod_usable();  // field I8MM
#else
    return false;
#endif
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch

#endif
