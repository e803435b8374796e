// SPDX-License-Identifier: Apache-2.0
// The DSP set: Packing::rows, for CPUs with the Armv7-M or Armv8-M DSP extension (Cortex-M4, M7, M33): SMLAD multiplies
// two pairs of int16 and adds both products. The registry has it where the whole program is compiled for such a CPU.
#include "../sets.hpp"

#if defined(ETCH_HAS_DSP)

#include <cstddef>
#include <cstdint>

#include "../call_count.hpp"
#include "../compiler.hpp"
#include "../kernel_set.hpp"
#include "../polynomials.hpp"
#include "../scalar/math.hpp"
#include "../scalar/quantization.hpp"
#include "../square_root.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace dsp {
namespace {

constexpr CountedSet kCounted = kCountDsp;

// Each needs those before it.
// clang-format off
#if defined(__ARM_FP)
#include "loops.inl"
#else
#include "../single/loops.inl"
#endif
#include "../single/rows.inl"
#include "../rows/quantization.inl"
#include "../single/activation.inl"
#include "../single/finish.inl"
#include "matmul_s8.inl"
#include "matmul_s4.inl"
// clang-format on

bool always() noexcept {
    return true;
}

}  // namespace
}  // namespace dsp

constexpr KernelSet kDsp = {
    "dsp",
    Packing::rows,
    dsp::kEncodedBytes,
    dsp::always,
    dsp::matmul_s8,
    dsp::matmul_f32,
    dsp::quantize_row,
    dsp::quantize_row_s8,
    dsp::layer_norm_row,
    dsp::rms_norm_row,
    dsp::exp2_row,
    dsp::exp2_sum,
    dsp::largest_value,
    dsp::quantize_probabilities,
    dsp::activate_row,
    nullptr,
    dsp::matmul_s4,
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch

#endif
