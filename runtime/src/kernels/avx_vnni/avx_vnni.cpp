// SPDX-License-Identifier: Apache-2.0
// The AVX-VNNI set: Packing::panel, 8-lane registers, no fused multiply-add. Everything here but the set itself has
// internal linkage: the linker must never take a function from here for code that runs on an older CPU.
#if defined(__x86_64__)

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "../avx2/common.hpp"
#include "../call_count.hpp"
#include "../compiler.hpp"
#include "../kernel_set.hpp"
#include "../polynomials.hpp"
#include "../scalar/quantization.hpp"
#include "../sets.hpp"

// From here on everything is compiled for AVX-VNNI, whatever the command line says.
#if defined(ETCH_EMULATED_INTRINSICS)
// The tests' emulation runs on CPUs without it.
#elif defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,avxvnni"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,avxvnni")
#endif

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace avx_vnni {
namespace {

constexpr CountedSet kCounted = kCountAvxVnni;
constexpr unsigned kMostRows = 6;
constexpr unsigned kFewRowsPanels = 1;
constexpr bool kActivatesBlocks = false;
constexpr unsigned kMostPanels = 1;
constexpr std::uint32_t kCopiedFrom = 0;  // k

using avx2::common::apply_activation;

// Each needs those before it.
// clang-format off
#include "../avx2/vectors.inl"
#include "../vector/floats.inl"
#include "../avx2/lanes.inl"
#include "../vector/lanes.inl"
#include "../vector/repeated.inl"
#include "ints.inl"
#include "../vector/finish_panel.inl"
#include "../vector/matmul_vnni_offset.inl"
#include "../vector/matmul_vnni_tile.inl"
#include "../vector/matmul_vnni.inl"
#include "../vector/encoding.inl"
// clang-format on

}  // namespace
}  // namespace avx_vnni

constexpr KernelSet kAvxVnni = {
    "avx_vnni",
    Packing::panel,
    avx_vnni::kEncodedBytes,
    avx_vnni_usable,
    avx_vnni::matmul_s8,
    avx2::common::matmul_f32,
    avx_vnni::quantize_row,
    avx2::common::quantize_row_s8,
    avx2::common::layer_norm_row,
    avx2::common::rms_norm_row,
    avx2::common::exp2_row,
    avx2::common::exp2_sum,
    avx2::common::largest_value,
    avx_vnni::quantize_probabilities,
    avx2::common::activate_row,
    avx2::common::expand_s4,
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch

#if defined(ETCH_EMULATED_INTRINSICS)
#elif defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
