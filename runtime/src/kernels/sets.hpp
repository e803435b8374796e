// SPDX-License-Identifier: Apache-2.0
// Every kernel set that a build may hold; registry.cpp lists those that it does hold.
#pragma once

#include "kernel_set.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

extern const KernelSet kScalarPanel;
extern const KernelSet kScalarRows;

#if defined(__x86_64__)
#define ETCH_HAVE_AVX2 1
extern const KernelSet kAvx2;

// Whether this CPU has AVX2 and its operating system saves the registers. Compiled for the baseline.
bool avx2_usable() noexcept;

#define ETCH_HAVE_AVX512_VNNI 1
extern const KernelSet kAvx512Vnni;

// The same for AVX-512 F, BW, DQ, VL and VNNI, which include AVX2.
bool avx512_vnni_usable() noexcept;
#endif

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
