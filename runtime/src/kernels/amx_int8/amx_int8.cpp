// SPDX-License-Identifier: Apache-2.0
// The AMX set: Packing::panel, s8 products in tile registers, all else in 16-lane registers as in avx512_vnni, no fused
// multiply-add. Everything here but the set itself has internal linkage: the linker must never take a function from
// here for code that runs on an older CPU.
#if defined(__x86_64__)

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "../avx512_vnni/common.hpp"
#include "../call_count.hpp"
#include "../compiler.hpp"
#include "../intrinsics_avx512.hpp"
#include "../kernel_set.hpp"
#include "../polynomials.hpp"
#include "../scalar/quantization.hpp"
#include "../sets.hpp"

// From here on everything is compiled for AMX, whatever the command line says.
#if defined(ETCH_EMULATED_INTRINSICS)
// The tests' emulation runs on CPUs without it.
#elif defined(__clang__)
#pragma clang attribute push( \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,amx-tile,amx-int8"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,amx-tile,amx-int8")
#endif

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace amx_int8 {
namespace {

constexpr CountedSet kCounted = kCountAmxInt8;
constexpr bool kActivatesBlocks = true;

using avx512_vnni::common::apply_activation;

// Each needs those before it.
// clang-format off
#include "../avx512_vnni/vectors.inl"
#include "../vector/floats.inl"
#include "../avx512_vnni/lanes.inl"
#include "../vector/lanes.inl"
#include "../vector/finish_panel.inl"
#if defined(ETCH_EMULATED_INTRINSICS)
#include <tile_registers.inl>
#else
#include "tile_registers.inl"
#endif
#include "matmul_s8.inl"
#include "../vector/encoding.inl"
// clang-format on

// Of few rows the nibbles are decoded as they are multiplied, in vector registers: a tile would have to be written to
// memory first.
void matmul_s4(const MatmulS8& m, const std::uint8_t* factors, std::uint32_t first_panel,
               std::uint32_t last_panel) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountMatmulS8);
    avx512_vnni::common::matmul_s4_of_plain_rows(m, factors, first_panel, last_panel);
}

}  // namespace
}  // namespace amx_int8

constexpr KernelSet kAmxInt8 = {
    "amx_int8",
    Packing::panel,
    amx_int8::kEncodedBytes,
    amx_int8_usable,
    amx_int8::matmul_s8,
    avx512_vnni::common::matmul_f32,
    amx_int8::quantize_row,
    avx512_vnni::common::quantize_row_s8,
    avx512_vnni::common::layer_norm_row,
    avx512_vnni::common::rms_norm_row,
    avx512_vnni::common::exp2_row,
    avx512_vnni::common::exp2_sum,
    avx512_vnni::common::largest_value,
    amx_int8::quantize_probabilities,
    avx512_vnni::common::activate_row,
    avx512_vnni::common::expand_s4,
    amx_int8::matmul_s4,
    avx512_vnni::common::kMostRowsS4,
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
