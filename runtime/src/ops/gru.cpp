// SPDX-License-Identifier: Apache-2.0
#include "etch/ops/gru.hpp"

#include "../kernels/kernel_set.hpp"
#include "tiny.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

// out = W h + bias, one row. `context` has the scratch behind `out`.
void multiply(const OpContext& context, const F32Weights& weights, float* h, float* out) noexcept {
    const LinearF32 linear{weights, 1, {h, weights.inputs}, {out, weights.outputs}};
    linear.run(context, 0, linear.units());
}

void multiply(const OpContext& context, const S8Weights& weights, float* h, float* out) noexcept {
    const std::size_t bytes = encoded_row_bytes(context.kernels.packing, weights.inputs);
    float scale = context.kernels.quantize_row(h, weights.inputs, context.scratch);
    const LinearS8 linear{weights, 1, {context.scratch, &scale, bytes}, {out, weights.outputs}};
    linear.run({context.kernels, context.scratch + aligned_bytes(bytes)}, 0, linear.units());
}

// One step of one direction: `a` and `b` are [3 * width]; h may be `out`.
void step(const OpContext& context, const float* a, float* b, const float* h, float* out,
          std::uint32_t width) noexcept {
    float* const r = b;
    float* const z = b + width;
    float* const n = z + width;
    for (std::uint32_t i = 0; i < 2 * width; ++i)
        b[i] = a[i] + b[i];
    context.kernels.activate_row(Activation::sigmoid, b, 2 * width);
    for (std::uint32_t i = 0; i < width; ++i)
        n[i] = a[2 * width + i] + (r[i] * n[i]);
    context.kernels.activate_row(Activation::tanh, n, width);
    for (std::uint32_t i = 0; i < width; ++i)
        out[i] = without_tiny(((1.0f - z[i]) * n[i]) + (z[i] * h[i]));
}

}  // namespace

template <class Weights>
void Gru<Weights>::run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept {
    const std::uint32_t width = forward->inputs;
    float* const b = reinterpret_cast<float*>(context.scratch);
    const OpContext behind{context.kernels, context.scratch + aligned_bytes(std::size_t{3} * width * sizeof(float))};
    for (std::uint32_t unit = first; unit < last; ++unit) {
        const std::uint32_t direction = unit % directions();
        const TextRows& text = texts.texts[unit / directions()];
        const std::uint32_t end = steps.first + steps.count < text.count ? steps.first + steps.count : text.count;
        for (std::uint32_t s = steps.first; s < end; ++s) {
            const std::uint32_t row = text.first + (direction == 0 ? s : text.count - 1 - s);
            float* const to = out.from(row).data + direction * width;
            float* h = to;
            if (s == 0) {
                for (std::uint32_t i = 0; i < width; ++i)
                    to[i] = 0.0f;
            } else {
                h = direction == 0 ? to - out.width : to + out.width;
            }
            multiply(behind, direction == 0 ? *forward : *backward, h, b);
            step(context, input.from(row).data + direction * 3 * width, b, h, to, width);
        }
    }
}

template void GruS8::run(const OpContext&, std::uint32_t, std::uint32_t) const noexcept;
template void GruF32::run(const OpContext&, std::uint32_t, std::uint32_t) const noexcept;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
