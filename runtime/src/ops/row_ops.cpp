// SPDX-License-Identifier: Apache-2.0
#include "etch/ops/row_ops.hpp"

#include <cstring>

#include "../kernels/kernel_set.hpp"
#include "../kernels/polynomials.hpp"
#include "cap_row.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

template <class Op, class Function>
void value_by_value(const Op& op, std::uint32_t first, std::uint32_t last, Function function) noexcept {
    for (std::uint32_t row = first; row < last; ++row) {
        const float* const x = op.a.from(row).data;
        const float* const y = op.b.from(row).data;
        float* const to = op.out.from(row).data;
        for (std::uint32_t i = 0; i < op.out.width; ++i)
            to[i] = function(x[i], y[i]);
    }
}

// A few values of a row. The kernel takes the power of 2 of what a value lies below the largest one by: behind them is
// a 0, and no argument is above it.
constexpr std::uint32_t kXieluValues = 63;

void xielu(const KernelSet& kernels, const XieluWeights& weights, float* x, std::uint32_t n) noexcept {
    float e[kXieluValues + 1];
    for (std::uint32_t i = 0; i < n; ++i)
        e[i] = (x[i] < weights.most ? x[i] : weights.most) * polynomials::kLog2E;
    e[n] = 0.0f;
    kernels.exp2_row(e, n + 1);
    for (std::uint32_t i = 0; i < n; ++i) {
        const float square = (x[i] * weights.square) * x[i];
        const float power = ((e[i] - 1.0f) - x[i]) * weights.power;
        x[i] = (x[i] > 0.0f ? square : power) + (x[i] * weights.linear);
    }
}

}  // namespace

void Quantize::run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept {
    for (std::uint32_t row = first; row < last; ++row) {
        const QuantizedRows to = out.from(row);
        *to.scales = context.kernels.quantize_row(input.from(row).data, input.width, to.data);
    }
}

void LayerNorm::run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept {
    for (std::uint32_t row = first; row < last; ++row) {
        const std::size_t of_head = std::size_t{row % heads} * input.width;
        context.kernels.layer_norm_row(input.from(row).data, out.from(row).data, input.width, weights.gamma + of_head,
                                       weights.beta + of_head, weights.epsilon, weights.inverse_width);
    }
}

void RmsNorm::run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept {
    for (std::uint32_t row = first; row < last; ++row) {
        const std::size_t of_head = std::size_t{row % heads} * input.width;
        context.kernels.rms_norm_row(input.from(row).data, out.from(row).data, input.width, weights.gamma + of_head,
                                     weights.epsilon, weights.inverse_width);
    }
}

void Affine::run(const OpContext&, std::uint32_t first, std::uint32_t last) const noexcept {
    constexpr float kLimit = 4294967296.0f;  // 2^32
    for (std::uint32_t row = first; row < last; ++row) {
        const float* const x = input.from(row).data;
        float* const to = out.from(row).data;
        for (std::uint32_t i = 0; i < input.width; ++i) {
            const float y = (x[i] * weights.gamma[i]) + weights.beta[i];
            const float least = y > -kLimit ? y : -kLimit;
            to[i] = least < kLimit ? least : kLimit;
        }
    }
}

void Multiply::run(const OpContext&, std::uint32_t first, std::uint32_t last) const noexcept {
    value_by_value(*this, first, last, [](float x, float y) { return x * y; });
}

void Add::run(const OpContext&, std::uint32_t first, std::uint32_t last) const noexcept {
    value_by_value(*this, first, last, [](float x, float y) { return x + y; });
}

void Xielu::run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept {
    for (std::uint32_t row = first; row < last; ++row) {
        float* const x = rows.from(row).data;
        for (std::uint32_t i = 0; i < rows.width; i += kXieluValues) {
            const std::uint32_t left = rows.width - i;
            xielu(context.kernels, weights, x + i, left < kXieluValues ? left : kXieluValues);
        }
    }
}

void Rotary::run(const OpContext&, std::uint32_t first, std::uint32_t last) const noexcept {
    const std::uint32_t half = table.rotated / 2;
    for (const TextPart part : TextParts(texts, {block.first + first, last - first})) {
        for (std::uint32_t n = 0; n < part.count; ++n) {
            const std::size_t of_position = std::size_t{part.position() + n} * half;
            const float* const c = table.cosines + of_position;
            const float* const s = table.sines + of_position;
            float* const row = rows.from(first + part.row + n).data;
            for (std::uint32_t head = 0; head < rows.width; head += table.head_width) {
                float* const x = row + head;
                for (std::uint32_t i = 0; i < half; ++i) {
                    const float x0 = x[i];
                    const float x1 = x[i + half];
                    x[i] = (x0 * c[i]) - (x1 * s[i]);
                    x[i + half] = (x1 * c[i]) + (x0 * s[i]);
                }
            }
        }
    }
}

void FirstRows::run(const OpContext&, std::uint32_t first, std::uint32_t last) const noexcept {
    if (first == last) return;
    for (std::uint32_t text = 0; text < texts.count; ++text) {
        const std::uint32_t from = texts.texts[text].first;  // not before row `text`: every text has a row
        if (from != text) std::memcpy(rows.from(text).data, rows.from(from).data, sizeof(float) * rows.width);
    }
}

void SelectRows::run(const OpContext&, std::uint32_t first, std::uint32_t last) const noexcept {
    for (std::uint32_t i = first; i < last; ++i)
        std::memcpy(out.from(i).data, input.from(rows[i]).data, sizeof(float) * input.width);
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

void Cap::run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept {
    for (std::uint32_t row = first; row < last; ++row)
        cap_row(context.kernels, cap, rows.from(row).data, rows.width);
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
