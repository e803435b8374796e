// SPDX-License-Identifier: Apache-2.0
// The plain set: Packing::rows, standard C++ and nothing else, for CPUs without multiplications of several values at a
// time (Cortex-M0, M3), and for any other to compare with.
#include <cstddef>
#include <cstdint>

#include "../call_count.hpp"
#include "../compiler.hpp"
#include "../kernel_set.hpp"
#include "../polynomials.hpp"
#include "../scalar/math.hpp"
#include "../scalar/quantization.hpp"
#include "../sets.hpp"
#include "../square_root.hpp"

#if defined(ETCH_HAS_PLAIN)

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace plain {
namespace {

constexpr CountedSet kCounted = kCountPlain;

// Each needs those before it.
// clang-format off
#include "../single/loops.inl"
#include "../single/rows.inl"
#include "../rows/quantization.inl"
#include "../single/activation.inl"
#include "../single/finish.inl"
#include "matmul_s8.inl"
#include "expand_s4.inl"
// clang-format on

bool always() noexcept {
    return true;
}

}  // namespace
}  // namespace plain

constexpr KernelSet kPlain = {
    "plain",
    Packing::rows,
    plain::kEncodedBytes,
    plain::always,
    plain::matmul_s8,
    plain::matmul_f32,
    plain::quantize_row,
    plain::quantize_row_s8,
    plain::layer_norm_row,
    plain::rms_norm_row,
    plain::exp2_row,
    plain::exp2_sum,
    plain::largest_value,
    plain::quantize_probabilities,
    plain::activate_row,
    plain::expand_s4,
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch

#endif
