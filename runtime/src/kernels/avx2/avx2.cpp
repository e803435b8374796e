// SPDX-License-Identifier: Apache-2.0
// The AVX2 set: Packing::panel, 8-lane registers, no fused multiply-add. Everything here but the set itself and
// what it lends has internal linkage: the linker must never take a function from here for code that runs on an older
// CPU.
#if defined(__x86_64__)

#include <immintrin.h>

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

// From here on everything is compiled for AVX2, whatever the command line says.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace avx2 {
namespace {

constexpr CountedSet kCounted = kCountAvx2;
constexpr unsigned kRowsF32 = 4;
constexpr unsigned kVectorBytes = 32;

// Each needs those before it.
// clang-format off
#include "vectors.inl"
#include "../vector/floats.inl"
#include "lanes.inl"
#include "../vector/lanes.inl"
#include "../vector/activation.inl"
#include "../vector/repeated.inl"
#include "../vector/tiles.inl"
#include "row_s8.inl"
#include "steps_s8.inl"
#include "next_weights.inl"
#include "first_sums.inl"
#include "tile_s8.inl"
#include "matmul_s8.inl"
#include "matmul_s4.inl"
#include "../vector/matmul_f32.inl"
#include "../vector/rows.inl"
#include "../vector/expand_s4.inl"
// clang-format on

}  // namespace

namespace common {
namespace own = avx2;
#include "../vector/common.inl"
}  // namespace common
}  // namespace avx2

constexpr KernelSet kAvx2 = {
    "avx2",
    Packing::panel,
    avx2::kRowBytesPerValue,
    avx2_usable,
    avx2::matmul_s8,
    avx2::matmul_f32,
    avx2::quantize_row,
    avx2::quantize_row_s8,
    avx2::layer_norm_row,
    avx2::rms_norm_row,
    avx2::exp2_row,
    avx2::exp2_sum,
    avx2::largest_value,
    avx2::quantize_probabilities,
    avx2::activate_row,
    avx2::expand_s4,
    avx2::matmul_s4,
    /*matmul_s4_rows=*/6,
    /*block_rows=*/0,
    avx2::matmul_s7,
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
