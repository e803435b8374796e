// SPDX-License-Identifier: Apache-2.0
// What this RISC-V CPU of 64 bits can run. Asked of the system each time: there is no state to initialize.
#include "sets.hpp"

#if defined(ETCH_HAS_RVV)

#include <cstddef>
#include <cstdint>

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

#if !defined(__riscv_v) && defined(__linux__)
// A call of Linux, without the C library: what it returns, -errno where it fails.
long call_system(long number, long first, long second, long third) noexcept {
    register long a0 asm("a0") = first;
    register long a1 asm("a1") = second;
    register long a2 asm("a2") = third;
    register long a7 asm("a7") = number;
    asm volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a7) : "memory");
    return a0;
}

// AT_HWCAP of this process: a bit for each letter of the extensions that it may use. 0 where /proc is not there. No
// register can be read that says it, and getauxval would need the C library.
std::uint64_t extensions() noexcept {
    constexpr long kOpenAt = 56;
    constexpr long kClose = 57;
    constexpr long kRead = 63;
    constexpr long kHere = -100;  // AT_FDCWD
    constexpr std::uint64_t kHwcap = 16;
    struct Entry {
        std::uint64_t type;
        std::uint64_t value;
    };
    const long file = call_system(kOpenAt, kHere, reinterpret_cast<long>("/proc/self/auxv"), 0);
    if (file < 0) return 0;
    Entry entries[64];
    const long bytes = call_system(kRead, file, reinterpret_cast<long>(entries), sizeof entries);
    call_system(kClose, file, 0, 0);
    for (std::size_t i = 0; bytes > 0 && i < static_cast<std::size_t>(bytes) / sizeof(Entry); ++i) {
        if (entries[i].type == kHwcap) return entries[i].value;
    }
    return 0;
}

// False where the system's administrator keeps processes from using what AT_HWCAP claims: an instruction would end
// them. Linux before 6.5 does not know the question.
bool are_allowed() noexcept {
    constexpr long kPrctl = 167;
    constexpr long kGetControl = 70;  // PR_RISCV_V_GET_CONTROL
    constexpr long kCurrent = 3;
    constexpr long kOff = 1;
    const long control = call_system(kPrctl, kGetControl, 0, 0);
    return control < 0 || (control & kCurrent) != kOff;
}

// Whether the vectors are those of version 1.0. CPUs of its draft 0.7, whose systems claim them too, do not know the
// "agnostic" settings and mark the type as illegal, by its sign.
bool are_of_version_1() noexcept {
    std::int64_t type;
    asm volatile(".option push\n.option arch, +v\nvsetvli zero, zero, e8, m1, ta, ma\ncsrr %0, vtype\n.option pop"
                 : "=r"(type)
                 :
                 : "vl", "vtype");
    return type >= 0;
}
#endif

}  // namespace

bool rvv_usable() noexcept {
#if defined(__riscv_v)
    return true;
#elif defined(__linux__)
    constexpr std::uint64_t kV = std::uint64_t{1} << ('V' - 'A');
    return (extensions() & kV) != 0 && are_allowed() && are_of_version_1();
#else
    return false;
#endif
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch

#endif
