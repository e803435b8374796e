// SPDX-License-Identifier: Apache-2.0
#include "etch/ops/linear.hpp"

#include "../kernels/kernel_set.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

void LinearS8::run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept {
    const MatmulS8 matmul{input,           weights.weights, weights.scales, weights.bias,    residual.data, out.data,
                          weights.outputs, count,           weights.inputs, weights.outputs, activation};
    context.kernels.matmul_s8(matmul, first, last);
}

void LinearF32::run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept {
    const MatmulF32 matmul{input.data, weights.inputs,  weights.weights, nullptr,        weights.bias,    residual.data,
                           out.data,   weights.outputs, count,           weights.inputs, weights.outputs, activation};
    context.kernels.matmul_f32(matmul, first, last);
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
