// SPDX-License-Identifier: Apache-2.0
// What this x86 CPU can run. Asked of the CPU each time: there is no state to initialize.
#include "sets.hpp"

#if defined(__x86_64__)

#include <cpuid.h>

#include <cstdint>

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

// The register state that the operating system saves and restores (XCR0). Only where OSXSAVE is set.
std::uint64_t saved_state() noexcept {
    std::uint32_t low;
    std::uint32_t high;
    asm("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return std::uint64_t{high} << 32 | low;
}

// Whether the operating system saves every register of `state`.
bool saves(std::uint64_t state) noexcept {
    constexpr unsigned kOsxsaveBit = 1u << 27;  // leaf 1, ecx
    constexpr unsigned kAvxBit = 1u << 28;      // leaf 1, ecx

    unsigned eax = 0;
    unsigned ebx = 0;
    unsigned ecx = 0;
    unsigned edx = 0;
    if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0) return false;
    if ((ecx & kOsxsaveBit) == 0 || (ecx & kAvxBit) == 0) return false;
    return (saved_state() & state) == state;
}

// Whether leaf 7 has every bit of `ebx_bits`, `ecx_bits` and `edx_bits`, and its first subleaf those of `eax_1_bits`.
bool has(unsigned ebx_bits, unsigned ecx_bits, unsigned edx_bits, unsigned eax_1_bits) noexcept {
    unsigned eax = 0;
    unsigned ebx = 0;
    unsigned ecx = 0;
    unsigned edx = 0;
    if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) return false;
    if ((ebx & ebx_bits) != ebx_bits || (ecx & ecx_bits) != ecx_bits || (edx & edx_bits) != edx_bits) return false;
    if (eax_1_bits == 0) return true;
    const bool has_subleaf = eax >= 1;
    if (!has_subleaf || __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) == 0) return false;
    return (eax & eax_1_bits) == eax_1_bits;
}

// Family 25, 15 and an extension of 10: Zen 3, which has no AVX-512, and Zen 4.
bool is_amd_family_25() noexcept {
    unsigned eax = 0;
    unsigned ebx = 0;
    unsigned ecx = 0;
    unsigned edx = 0;
    if (__get_cpuid(0, &eax, &ebx, &ecx, &edx) == 0) return false;
    if (ebx != signature_AMD_ebx || ecx != signature_AMD_ecx || edx != signature_AMD_edx) return false;
    if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0) return false;
    constexpr unsigned kFamily = 0x0FF00F00;
    return (eax & kFamily) == 0x00A00F00;
}

constexpr unsigned kAvx2Bit = 1u << 5;         // leaf 7, ebx
constexpr unsigned kAvx512FBit = 1u << 16;     // leaf 7, ebx
constexpr unsigned kAvx512DqBit = 1u << 17;    // leaf 7, ebx
constexpr unsigned kAvx512BwBit = 1u << 30;    // leaf 7, ebx
constexpr unsigned kAvx512VlBit = 1u << 31;    // leaf 7, ebx
constexpr unsigned kAvx512VnniBit = 1u << 11;  // leaf 7, ecx
constexpr unsigned kAmxTileBit = 1u << 24;     // leaf 7, edx
constexpr unsigned kAmxInt8Bit = 1u << 25;     // leaf 7, edx
constexpr unsigned kAvxVnniBit = 1u << 4;      // leaf 7, subleaf 1, eax
constexpr std::uint64_t kSseAndAvxState = 0x06;
constexpr std::uint64_t kAvx512State = 0xE0;  // mask registers, upper halves, registers 16 to 31
constexpr std::uint64_t kTileConfiguration = 1u << 17;
constexpr unsigned kTileData = 18;  // the number of the bit

// Whether the operating system gives this process tile registers. They are saved where a process has asked for them
// only (Linux, Documentation/arch/x86/xstate.rst); who has may ask again.
bool has_permission_for_tiles() noexcept {
#if defined(__linux__)
    constexpr long kArchPrctl = 158;             // arch_prctl()
    constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
    long result = kArchPrctl;
    asm volatile("syscall" : "+a"(result) : "D"(kRequestPermission), "S"(long{kTileData}) : "rcx", "r11", "memory");
    return result == 0;
#else
    return false;
#endif
}

}  // namespace

// x86-64 begins with it.
bool sse2_usable() noexcept {
    return true;
}

bool avx2_usable() noexcept {
    return saves(kSseAndAvxState) && has(kAvx2Bit, 0, 0, 0);
}

bool avx_vnni_usable() noexcept {
    return saves(kSseAndAvxState) && has(kAvx2Bit, 0, 0, kAvxVnniBit);
}

bool avx512_vnni_usable() noexcept {
    return saves(kSseAndAvxState | kAvx512State) &&
           has(kAvx2Bit | kAvx512FBit | kAvx512DqBit | kAvx512BwBit | kAvx512VlBit, kAvx512VnniBit, 0, 0);
}

bool avx512_vnni_halved_usable() noexcept {
    return avx512_vnni_usable() && is_amd_family_25();
}

bool amx_int8_usable() noexcept {
    constexpr std::uint64_t kState = kTileConfiguration | std::uint64_t{1} << kTileData;
    return avx512_vnni_usable() && saves(kState) && has(0, 0, kAmxTileBit | kAmxInt8Bit, 0) &&
           has_permission_for_tiles();
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch

#endif
