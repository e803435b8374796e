// SPDX-License-Identifier: Apache-2.0
// The AVX2 set: Packing::panel, 8-lane vectors, no fused multiply-add. This is the only file that is compiled with
// -mavx2, and everything in it but the set itself has internal linkage: the linker must never take a function from
// here for code that runs on an older CPU.
#if !defined(__AVX2__)
#error "etch: compile this file with -mavx2"
#endif

#include "../call_count.hpp"
#include "../sets.hpp"
#include "activation.hpp"
#include "matmul_f32.hpp"
#include "matmul_s8.hpp"
#include "rows.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

constexpr KernelSet kAvx2 = {
    "avx2",
    Packing::panel,
    2,
    avx2_usable,
    avx2::matmul_s8_4x16,
    avx2::matmul_f32_4x16,
    avx2::quantize_row,
    avx2::quantize_row_s8,
    avx2::layer_norm_row,
    avx2::exp2_row,
    avx2::quantize_probabilities,
    avx2::activate_row,
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
