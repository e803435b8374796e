// SPDX-License-Identifier: Apache-2.0
// The NEON dotprod set: Packing::panel, 4-lane registers, no fused multiply-add. Everything here but the set itself has
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
#include "../polynomials.hpp"
#include "../scalar/quantization.hpp"
#include "../sets.hpp"

// From here on everything is compiled for NEON dotprod, whatever the command line says.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("dotprod"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("arch=armv8.2-a+dotprod")
#endif

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace neon_dotprod {
namespace {

constexpr CountedSet kCounted = kCountNeonDotprod;
constexpr unsigned kRowsF32 = 4;
constexpr unsigned kVectorBytes = 16;

// Each needs those before it.
// clang-format off
#include "../neon/vectors.inl"
#include "../vector/floats.inl"
#include "../vector/four_registers.inl"
#include "../vector/first_lanes.inl"
#include "../neon/bytes.inl"
#include "../vector/lanes.inl"
#include "../vector/activation.inl"
#include "../vector/repeated.inl"
#include "../vector/tiles.inl"
#include "matmul_s8.inl"
using TileS8 = DotTile;
#include "../vector/matmul_panels.inl"
#include "../vector/matmul_f32.inl"
#include "../vector/encoding.inl"
#include "../vector/rows.inl"
#include "../vector/expand_s4.inl"
// clang-format on

}  // namespace
}  // namespace neon_dotprod

constexpr KernelSet kNeonDotprod = {
    "neon_dotprod",
    Packing::panel,
    neon_dotprod::kEncodedBytes,
    neon_dotprod_usable,
    neon_dotprod::matmul_s8,
    neon_dotprod::matmul_f32,
    neon_dotprod::quantize_row,
    neon_dotprod::quantize_row_s8,
    neon_dotprod::layer_norm_row,
    neon_dotprod::rms_norm_row,
    neon_dotprod::exp2_row,
    neon_dotprod::exp2_sum,
    neon_dotprod::largest_value,
    neon_dotprod::quantize_probabilities,
    neon_dotprod::activate_row,
    neon_dotprod::expand_s4,
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
