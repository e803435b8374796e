// SPDX-License-Identifier: Apache-2.0
// The AVX-512 VNNI set: Packing::panel, 16-lane registers, no fused multiply-add. Everything here but the set itself
// and what it lends has internal linkage: the linker must never take a function from here for code that runs on an
// older CPU.
#if defined(__x86_64__)

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "../call_count.hpp"
#include "../compiler.hpp"
#include "../intrinsics_avx512.hpp"
#include "../kernel_set.hpp"
#include "../polynomials.hpp"
#include "../scalar/quantization.hpp"
#include "../sets.hpp"
#include "common.hpp"

// From here on everything is compiled for AVX-512 VNNI, whatever the command line says.
#if defined(ETCH_EMULATED_INTRINSICS)
// The tests' emulation runs on CPUs without it.
#elif defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni"))), \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")
#endif

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace avx512_vnni {
namespace {

constexpr CountedSet kCounted = kCountAvx512Vnni;
constexpr unsigned kRowsF32 = 6;
constexpr unsigned kVectorBytes = 64;
constexpr unsigned kMostRows = 9;
constexpr unsigned kFewRowsPanels = 6;
constexpr bool kActivatesBlocks = true;
constexpr unsigned kMostPanels = 3;
constexpr std::uint32_t kCopiedFrom = 256;  // k; of less, as in attention, many rows are read where they are

// Each needs those before it.
// clang-format off
#include "vectors.inl"
#include "../vector/floats.inl"
#include "lanes.inl"
#include "../vector/lanes.inl"
#include "../vector/activation.inl"
#include "../vector/repeated.inl"
#include "../vector/tiles.inl"
#include "../vector/finish_panel.inl"
#include "../vector/matmul_vnni_offset.inl"
#include "../vector/matmul_vnni_tile.inl"
#include "../vector/matmul_vnni.inl"
#include "matmul_s4.inl"
#include "../vector/matmul_f32.inl"
#include "../vector/encoding.inl"
#include "../vector/rows.inl"
#include "../vector/expand_s4.inl"
#include "halved.inl"
// clang-format on

constexpr KernelSet halved_set(KernelSet set) noexcept {
    set.usable = avx512_vnni_halved_usable;
    set.matmul_s8 = halved::matmul_s8;
    set.matmul_s4 = halved::matmul_s4;
    set.quantize_row = halved::quantize_row;
    set.quantize_probabilities = halved::quantize_probabilities;
    set.block_rows = halved::kBlockRows;
    return set;
}

}  // namespace

namespace common {
namespace own = avx512_vnni;
#include "../vector/common.inl"
void matmul_s4_of_plain_rows(const MatmulS8& m, const std::uint8_t* factors, std::uint32_t first_panel,
                             std::uint32_t last_panel) noexcept {
    own::matmul_s4(m, own::RowsS4::plain, factors, first_panel, last_panel);
}
}  // namespace common
}  // namespace avx512_vnni

constexpr KernelSet kAvx512Vnni = {
    "avx512_vnni",
    Packing::panel,
    avx512_vnni::kEncodedBytes,
    avx512_vnni_usable,
    avx512_vnni::matmul_s8,
    avx512_vnni::matmul_f32,
    avx512_vnni::quantize_row,
    avx512_vnni::quantize_row_s8,
    avx512_vnni::layer_norm_row,
    avx512_vnni::rms_norm_row,
    avx512_vnni::exp2_row,
    avx512_vnni::exp2_sum,
    avx512_vnni::largest_value,
    avx512_vnni::quantize_probabilities,
    avx512_vnni::activate_row,
    avx512_vnni::expand_s4,
    avx512_vnni::matmul_s4,
    avx512_vnni::common::kMostRowsS4,
};
constexpr KernelSet kAvx512VnniHalved = avx512_vnni::halved_set(kAvx512Vnni);

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch

#if defined(ETCH_EMULATED_INTRINSICS)
#elif defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
