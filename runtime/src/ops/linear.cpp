// SPDX-License-Identifier: Apache-2.0
#include "etch/ops/linear.hpp"

#include <cstddef>

#include "../kernels/kernel_set.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

// The panels [first, last) of m, whose weights are of 4 bits: a few outputs at a time, expanded to s8 in `scratch`.
void multiply_s4(const KernelSet& kernels, const MatmulS8& m, const std::uint8_t* factors, std::int8_t* scratch,
                 std::uint32_t first, std::uint32_t last) noexcept {
    const std::uint32_t at_once = expanded_outputs(kernels.packing);
    const std::uint32_t end = m.n < last * kPanelWidth ? m.n : last * kPanelWidth;
    for (std::uint32_t output = first * kPanelWidth; output < end; output += at_once) {
        MatmulS8 part = m;
        part.n = end - output < at_once ? end - output : at_once;
        part.weights = scratch;
        part.column_scales = m.column_scales + output;
        if (m.bias != nullptr) part.bias = m.bias + output;
        if (m.residual != nullptr) part.residual = m.residual + output;
        part.out = m.out + output;
        kernels.expand_s4(m.weights + packed_s4_bytes(kernels.packing, output, m.k),
                          factors + packed_s4_factors(kernels.packing, output, m.k), part.n, m.k, scratch);
        kernels.matmul_s8(part, 0, (part.n + kPanelWidth - 1) / kPanelWidth);
    }
}

}  // namespace

void LinearS8::run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept {
    const MatmulS8 matmul{input,           weights.weights, weights.scales, weights.bias,    residual.data, out.data,
                          weights.outputs, count,           weights.inputs, weights.outputs, activation};
    const KernelSet& kernels = context.kernels;
    if (weights.of_7_bits && kernels.matmul_s7 != nullptr) return kernels.matmul_s7(matmul, first, last);
    if (weights.factors == nullptr) return kernels.matmul_s8(matmul, first, last);
    const bool in_tiles =
        kernels.expand_s4 == nullptr || (kernels.matmul_s4 != nullptr && count <= kernels.matmul_s4_rows);
    if (in_tiles) return kernels.matmul_s4(matmul, weights.factors, first, last);
    std::int8_t* const scratch = reinterpret_cast<std::int8_t*>(context.scratch);
    multiply_s4(kernels, matmul, weights.factors, scratch, first, last);
}

void LinearS8Rows::run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept {
    const std::uint32_t row = first * kUnitRows;
    const std::uint32_t end = last * kUnitRows < linear.count ? last * kUnitRows : linear.count;
    const F32Rows residual = linear.residual.data == nullptr ? linear.residual : linear.residual.from(row);
    const LinearS8 part{linear.weights,       end - row,         linear.input.from(row),
                        linear.out.from(row), linear.activation, residual};
    part.run(context, 0, part.units());
}

void LinearF32::run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept {
    const MatmulF32 matmul{input.data, weights.inputs,  weights.weights, nullptr,        weights.bias,    residual.data,
                           out.data,   weights.outputs, count,           weights.inputs, weights.outputs, activation};
    context.kernels.matmul_f32(matmul, first, last);
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
