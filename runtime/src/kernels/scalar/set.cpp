// SPDX-License-Identifier: Apache-2.0
#include "../sets.hpp"
#include "scalar.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

bool always() noexcept {
    return true;
}

constexpr KernelSet scalar_set(Packing packing, decltype(KernelSet::matmul_s8) matmul_s8,
                               decltype(KernelSet::matmul_f32) matmul_f32,
                               decltype(KernelSet::expand_s4) expand_s4) noexcept {
    return {"scalar",
            packing,
            1,
            always,
            matmul_s8,
            matmul_f32,
            scalar::quantize_row,
            scalar::quantize_row_s8,
            scalar::layer_norm_row,
            scalar::rms_norm_row,
            scalar::exp2_row,
            scalar::exp2_sum,
            scalar::largest_value,
            scalar::quantize_probabilities,
            scalar::activate_row,
            expand_s4};
}

}  // namespace

constexpr KernelSet kScalarPanel =
    scalar_set(Packing::panel, scalar::matmul_s8_panel, scalar::matmul_f32_panel, scalar::expand_s4_panel);
constexpr KernelSet kScalarRows =
    scalar_set(Packing::rows, scalar::matmul_s8_rows, scalar::matmul_f32_rows, scalar::expand_s4_rows);

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
