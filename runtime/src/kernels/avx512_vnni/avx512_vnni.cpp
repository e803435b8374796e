// SPDX-License-Identifier: Apache-2.0
// The AVX-512 VNNI set: Packing::panel, 16-lane registers, no fused multiply-add. Everything here but the set itself
// and what it lends has internal linkage: the linker must never take a function from here for code that runs on an
// older CPU.
#if defined(__x86_64__)

// GCC 12's own header means "any value" by a variable that is initialized by itself, and then warns of it.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "../call_count.hpp"
#include "../compiler.hpp"
#include "../kernel_set.hpp"
#include "../polynomials.hpp"
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
// clang-format on

// Where a register is two halves to the CPU, copying rows costs more than it brings: 2 to 4 % of a product of k = 384
// and 768, measured on Zen 4. Copied are those that push each other out of a cache of 8 ways.
void matmul_s8_halved(const MatmulS8& m, std::uint32_t first_panel, std::uint32_t last_panel) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountMatmulS8);
    multiply(m, first_panel, last_panel, m.a.stride_bytes % 2048 == 0 && m.k >= kCopiedFrom);
}

// Its second cache is 1 MB, half of Intel's: 221 rows of BERT-base's inner width are 2.7 MB, 72 rows 0.9. To multiply a
// byte of weights by 72 rows takes it more than a cycle, which hides reading it again: 3 % faster than one block of 221
// rows in one thread, and 2 % in two.
constexpr KernelSet halved(KernelSet set) noexcept {
    set.usable = avx512_vnni_halved_usable;
    set.matmul_s8 = matmul_s8_halved;
    set.block_rows = 72;
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
constexpr KernelSet kAvx512VnniHalved = avx512_vnni::halved(kAvx512Vnni);

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch

#if defined(ETCH_EMULATED_INTRINSICS)
#elif defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
