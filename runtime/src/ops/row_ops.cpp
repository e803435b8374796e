// SPDX-License-Identifier: Apache-2.0
#include "etch/ops/row_ops.hpp"

#include <cstring>

#include "../kernels/kernel_set.hpp"
#include "../kernels/polynomials.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

void Quantize::run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept {
    for (std::uint32_t row = first; row < last; ++row) {
        const QuantizedRows to = out.from(row);
        *to.scales = context.kernels.quantize_row(input.from(row).data, input.width, to.data);
    }
}

void LayerNorm::run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept {
    for (std::uint32_t row = first; row < last; ++row) {
        context.kernels.layer_norm_row(rows.from(row).data, rows.width, weights.gamma, weights.beta, weights.epsilon,
                                       weights.inverse_width);
    }
}

void FirstRows::run(const OpContext&, std::uint32_t first, std::uint32_t last) const noexcept {
    if (first == last) return;
    for (std::uint32_t text = 0; text < texts.count; ++text) {
        const std::uint32_t from = texts.texts[text].first;  // not before row `text`: every text has a row
        if (from != text) std::memcpy(rows.from(text).data, rows.from(from).data, sizeof(float) * rows.width);
    }
}

void Softmax::run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept {
    for (std::uint32_t row = first; row < last; ++row) {
        const float* x = input.from(row).data;
        float* y = out.from(row).data;
        for (std::uint32_t i = 0; i < input.width; ++i)
            y[i] = x[i] * polynomials::kLog2E;
        const float inverse_sum = 1.0f / context.kernels.exp2_row(y, input.width);
        for (std::uint32_t i = 0; i < input.width; ++i)
            y[i] = y[i] * inverse_sum;
    }
}

void Sigmoid::run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept {
    for (std::uint32_t row = first; row < last; ++row) {
        const float* x = input.from(row).data;
        float* y = out.from(row).data;
        for (std::uint32_t i = 0; i < input.width; ++i)
            y[i] = x[i];
        context.kernels.activate_row(Activation::sigmoid, y, input.width);
    }
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
