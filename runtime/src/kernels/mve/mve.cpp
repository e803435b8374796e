// SPDX-License-Identifier: Apache-2.0
// The MVE set: Packing::rows, for CPUs with Armv8.1-M vectors of bytes and
// floats (Helium: Cortex-M55, M85). Its float instructions take subnormals as
// zero: of recipes with bytes those never decide a bit. The registry has it where the whole program
// is compiled for such a CPU.
#include "../sets.hpp"

#if defined(ETCH_HAS_MVE)

#include <arm_mve.h>

#include <cstddef>
#include <cstdint>

#include "../call_count.hpp"
#include "../compiler.hpp"
#include "../kernel_set.hpp"
#include "../polynomials.hpp"
#include "../scalar/quantization.hpp"
#include "../square_root.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace mve {
namespace {

constexpr CountedSet kCounted = kCountMve;

// Each needs those before it.
// clang-format off
#include "vectors.inl"
#include "loops.inl"
#include "activation.inl"
#include "rows.inl"
#include "../rows/quantization.inl"
#include "finish.inl"
#include "matmul_s8.inl"
#include "matmul_s4.inl"
#include "matmul_f32.inl"
// clang-format on

bool always() noexcept {
    return true;
}

}  // namespace
}  // namespace mve

constexpr KernelSet kMve = {
    "mve",
    Packing::rows,
    mve::kEncodedBytes,
    mve::always,
    mve::matmul_s8,
    mve::matmul_f32,
    mve::quantize_row,
    mve::quantize_row_s8,
    mve::layer_norm_row,
    mve::rms_norm_row,
    mve::exp2_row,
    mve::exp2_sum,
    mve::largest_value,
    mve::quantize_probabilities,
    mve::activate_row,
    nullptr,
    mve::matmul_s4,
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch

#endif
