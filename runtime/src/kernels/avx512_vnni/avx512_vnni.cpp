// SPDX-License-Identifier: Apache-2.0
// The AVX-512 VNNI set: Packing::panel, 16-lane vectors, no fused multiply-add. This is the only file that is compiled
// with -mavx512*, and everything in it but the set itself has internal linkage: the linker must never take a function
// from here for code that runs on an older CPU.
#if !defined(__AVX512F__) || !defined(__AVX512BW__) || !defined(__AVX512DQ__) || !defined(__AVX512VL__) || \
    !defined(__AVX512VNNI__)
#error "etch: compile this file with -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vnni"
#endif

#include "../call_count.hpp"
#include "../sets.hpp"
#include "activation.hpp"
#include "matmul_f32.hpp"
#include "matmul_s8.hpp"
#include "rows.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

constexpr KernelSet kAvx512Vnni = {
    "avx512_vnni",
    Packing::panel,
    1,
    avx512_vnni_usable,
    avx512_vnni::matmul_s8_6x64,
    avx512_vnni::matmul_f32_6x16,
    avx512_vnni::quantize_row,
    avx512_vnni::quantize_row_s8,
    avx512_vnni::layer_norm_row,
    avx512_vnni::exp2_row,
    avx512_vnni::quantize_probabilities,
    avx512_vnni::activate_row,
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
