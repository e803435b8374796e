// SPDX-License-Identifier: Apache-2.0
// The set of WebAssembly with 128-bit vectors: Packing::panel, 4-lane registers, no relaxed instructions, whose bits
// would depend on the machine. Everything here but the set itself has internal linkage.
#if defined(__wasm_simd128__)

#include <wasm_simd128.h>

#include <cmath>
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
namespace wasm_simd {
namespace {

// An engine without the instructions does not load the module.
bool usable() noexcept {
    return true;
}

constexpr CountedSet kCounted = kCountWasmSimd;
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
}  // namespace wasm_simd

constexpr KernelSet kWasmSimd = {
    "wasm_simd",
    Packing::panel,
    wasm_simd::kEncodedBytes,
    wasm_simd::usable,
    wasm_simd::matmul_s8,
    wasm_simd::matmul_f32,
    wasm_simd::quantize_row,
    wasm_simd::quantize_row_s8,
    wasm_simd::layer_norm_row,
    wasm_simd::rms_norm_row,
    wasm_simd::exp2_row,
    wasm_simd::exp2_sum,
    wasm_simd::largest_value,
    wasm_simd::quantize_probabilities,
    wasm_simd::activate_row,
    wasm_simd::expand_s4,
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch

#endif
