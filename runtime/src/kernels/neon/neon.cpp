// SPDX-License-Identifier: Apache-2.0
// The NEON set: Packing::panel, 4-lane registers, no fused multiply-add. Everything here but the set itself and
// what it lends has internal linkage: the linker must never take a function from here for code that runs on an older
// CPU.
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
#include "common.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace neon {
namespace {

constexpr CountedSet kCounted = kCountNeon;
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
#include "../vector/matmul_panels.inl"
#include "../vector/matmul_f32.inl"
#include "../vector/encoding.inl"
#include "../vector/rows.inl"
#include "../vector/expand_s4.inl"
// clang-format on

}  // namespace

namespace common {
namespace own = neon;
#include "../vector/common.inl"
}  // namespace common
}  // namespace neon

constexpr KernelSet kNeon = {
    "neon",
    Packing::panel,
    neon::kEncodedBytes,
    neon_usable,
    neon::matmul_s8,
    neon::matmul_f32,
    neon::quantize_row,
    neon::quantize_row_s8,
    neon::layer_norm_row,
    neon::rms_norm_row,
    neon::exp2_row,
    neon::exp2_sum,
    neon::largest_value,
    neon::quantize_probabilities,
    neon::activate_row,
    neon::expand_s4,
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch

#endif
