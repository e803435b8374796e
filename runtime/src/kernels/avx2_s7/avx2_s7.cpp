// SPDX-License-Identifier: Apache-2.0
// The set of AVX2 for programs with weights of 7 bits, in the place of avx2: what multiplies no bytes is avx2's.
// Everything here but the set itself has internal linkage: the linker must never take a function from here for code
// that runs on an older CPU.
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
#include "../sets.hpp"

// From here on everything is compiled for AVX2, whatever the command line says.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace avx2_s7 {
namespace {

constexpr CountedSet kCounted = kCountAvx2S7;

using avx2::common::apply_activation;

// Each needs those before it.
// clang-format off
#include "../avx2/vectors.inl"
#include "../vector/floats.inl"
#include "../avx2/lanes.inl"
#include "../vector/lanes.inl"
#include "../vector/repeated.inl"
#include "../vector/tiles.inl"
#include "../avx2/tile_s8.inl"
#include "matmul.inl"
#include "../vector/encoding.inl"
// clang-format on

}  // namespace
}  // namespace avx2_s7

constexpr KernelSet kAvx2S7 = {
    "avx2",
    Packing::panel,
    avx2_s7::kEncodedBytes,
    avx2_usable,
    avx2_s7::matmul_s8,
    avx2::common::matmul_f32,
    avx2_s7::quantize_row,
    avx2::common::quantize_row_s8,
    avx2::common::layer_norm_row,
    avx2::common::rms_norm_row,
    avx2::common::exp2_row,
    avx2::common::exp2_sum,
    avx2::common::largest_value,
    avx2_s7::quantize_probabilities,
    avx2::common::activate_row,
    avx2::common::expand_s4,
    nullptr,
    0,
    0,
    avx2_s7::matmul_s7,
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
