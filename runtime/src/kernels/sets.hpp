// SPDX-License-Identifier: Apache-2.0
// Every kernel set that a build may hold; panel_sets.cpp and rows_sets.cpp list those that it does hold.
#pragma once

#include "kernel_set.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

extern const KernelSet kScalarPanel;
extern const KernelSet kScalarRows;

#if defined(__x86_64__)
extern const KernelSet kSse2;
extern const KernelSet kAvx2;
extern const KernelSet kAvxVnni;
extern const KernelSet kAvx512Vnni;
extern const KernelSet kAvx512VnniHalved;  // the same set, for CPUs to which its registers are two halves
extern const KernelSet kAmxInt8;

// Whether this CPU has the instructions and its operating system saves the registers. Compiled for the baseline.
bool sse2_usable() noexcept;
bool avx2_usable() noexcept;
bool avx_vnni_usable() noexcept;            // with AVX2
bool avx512_vnni_usable() noexcept;         // AVX-512 F, BW, DQ, VL and VNNI, with AVX2
bool avx512_vnni_halved_usable() noexcept;  // with those, AMD's Zen 4
// AMX-TILE and AMX-INT8 with those. Linux lets a process use them that has asked for it; where nobody has, this asks.
// From then on the stacks of its signal handlers must have room for 8 KB more (sigaltstack refuses smaller ones).
bool amx_int8_usable() noexcept;
#elif defined(__aarch64__)
extern const KernelSet kNeon;
extern const KernelSet kNeonDotprod;
extern const KernelSet kNeonI8mm;

// The same.
bool neon_usable() noexcept;
bool neon_dotprod_usable() noexcept;
bool neon_i8mm_usable() noexcept;  // with dotprod
#elif defined(__wasm_simd128__)
extern const KernelSet kWasmSimd;
#elif defined(__riscv) && __riscv_xlen == 64 && defined(__clang__) && __clang_major__ >= 19
#define ETCH_HAS_RVV 1
extern const KernelSet kRvv;

// The same: vectors of version 1.0.
bool rvv_usable() noexcept;
#endif

// Of the sets that read Packing::rows a build holds scalar and the best that its target macros allow: they are for
// microcontrollers, whose programs are built for one CPU, and whose flash is small.
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)  // with floats
#define ETCH_HAS_MVE 1
extern const KernelSet kMve;
#elif defined(__ARM_FEATURE_DSP) && defined(__arm__)
#define ETCH_HAS_DSP 1
extern const KernelSet kDsp;
#else
#define ETCH_HAS_PLAIN 1
extern const KernelSet kPlain;
#endif

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
