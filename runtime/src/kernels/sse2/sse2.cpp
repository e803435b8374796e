// SPDX-License-Identifier: Apache-2.0
// The SSE2 set: Packing::panel, 4-lane registers, no fused multiply-add. Everything here but the set itself has
// internal linkage: the linker must never take a function from here for code that runs on an older CPU.
#if defined(__x86_64__)

#include <emmintrin.h>

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

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace sse2 {
namespace {

constexpr CountedSet kCounted = kCountSse2;
constexpr unsigned kRowsF32 = 2;
constexpr unsigned kVectorBytes = 16;
constexpr bool kActivatesBlocks = false;

// Each needs those before it.
// clang-format off
#include "vectors.inl"
#include "../vector/floats.inl"
#include "../vector/four_registers.inl"
#include "../vector/first_lanes.inl"
#include "bytes.inl"
#include "../vector/lanes.inl"
#include "../vector/activation.inl"
#include "../vector/repeated.inl"
#include "../vector/tiles.inl"
#include "words.inl"
#include "../vector/four_integers.inl"
#include "../vector/finish_panel.inl"
#include "../vector/matmul_words.inl"
#include "../vector/matmul_f32.inl"
#include "../vector/encoding.inl"
#include "../vector/rows.inl"
#include "../vector/expand_s4.inl"
// clang-format on

}  // namespace
}  // namespace sse2

constexpr KernelSet kSse2 = {
    "sse2",
    Packing::panel,
    sse2::kEncodedBytes,
    sse2_usable,
    sse2::matmul_s8,
    sse2::matmul_f32,
    sse2::quantize_row,
    sse2::quantize_row_s8,
    sse2::layer_norm_row,
    sse2::rms_norm_row,
    sse2::exp2_row,
    sse2::exp2_sum,
    sse2::largest_value,
    sse2::quantize_probabilities,
    sse2::activate_row,
    sse2::expand_s4,
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch

#endif
