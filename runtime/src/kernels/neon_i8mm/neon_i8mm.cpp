// SPDX-License-Identifier: Apache-2.0
// The NEON i8mm set: Packing::panel, 4-lane registers, no fused multiply-add. Everything here but the set itself has
// internal linkage: the linker must never take a function from here for code that runs on an older CPU.
#if defined(__aarch64__)

#include <arm_neon.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "../call_count.hpp"
#include "../compiler.hpp"
#include "../kernel_set.hpp"
#include "../neon/common.hpp"
#include "../polynomials.hpp"
#include "../scalar/quantization.hpp"
#include "../sets.hpp"

// From here on everything is compiled for NEON i8mm, whatever the command line says.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("dotprod,i8mm"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("arch=armv8.2-a+dotprod+i8mm")
#endif

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace neon_i8mm {
namespace {

constexpr CountedSet kCounted = kCountNeonI8mm;

using neon::common::apply_activation;

// Each needs those before it.
// clang-format off
#include "../neon/vectors.inl"
#include "../vector/floats.inl"
#include "../vector/four_registers.inl"
#include "../vector/first_lanes.inl"
#include "../neon/bytes.inl"
#include "../vector/lanes.inl"
#include "../vector/repeated.inl"
#include "../vector/tiles.inl"
#include "../neon_dotprod/matmul_s8.inl"
#include "matmul_s8.inl"
#include "../vector/matmul_panels.inl"
#include "../vector/encoding.inl"
// clang-format on

}  // namespace
}  // namespace neon_i8mm

constexpr KernelSet kNeonI8mm = {
    "neon_i8mm",
    Packing::panel,
    neon_i8mm::kEncodedBytes,
    neon_i8mm_usable,
    neon_i8mm::matmul_s8,
    neon::common::matmul_f32,
    neon_i8mm::quantize_row,
    neon::common::quantize_row_s8,
    neon::common::layer_norm_row,
    neon::common::rms_norm_row,
    neon::common::exp2_row,
    neon::common::exp2_sum,
    neon::common::largest_value,
    neon_i8mm::quantize_probabilities,
    neon::common::activate_row,
    neon::common::expand_s4,
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
