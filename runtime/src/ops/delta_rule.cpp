// SPDX-License-Identifier: Apache-2.0
#include "etch/ops/delta_rule.hpp"

#include <cstring>

#include "../kernels/kernel_set.hpp"
#include "../kernels/scalar/math.hpp"
#include "../kernels/square_root.hpp"
#include "tiny.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

constexpr float kEpsilon = 1e-6f;

void activated(const OpContext& context, const float* x, std::uint32_t n, float* out) noexcept {
    std::memcpy(out, x, sizeof(float) * n);
    context.kernels.activate_row(Activation::silu, out, n);
    for (std::uint32_t i = 0; i < n; ++i)
        out[i] = without_tiny(out[i]);
}

// A query or a key, of length 1.
void normalized(const OpContext& context, const float* x, std::uint32_t n, float* out) noexcept {
    activated(context, x, n, out);
    float squares = 0.0f;
    for (std::uint32_t i = 0; i < n; ++i)
        squares = squares + (out[i] * out[i]);
    const float factor = 1.0f / square_root(squares + kEpsilon);
    for (std::uint32_t i = 0; i < n; ++i)
        out[i] = without_tiny(out[i] * factor);
}

// log(1 + e^x)
float softplus(float x) noexcept {
    const float magnitude = x < 0.0f ? -x : x;
    return (x > 0.0f ? x : 0.0f) + scalar::log1p(scalar::exp2(magnitude * polynomials::kMinusLog2E));
}

// out = the sum in order of row[i] * state[i], each a row of `width` values.
void multiply(const float* row, const float* state, std::uint32_t rows, std::uint32_t width, float* out) noexcept {
    for (std::uint32_t j = 0; j < width; ++j)
        out[j] = 0.0f;
    for (std::uint32_t i = 0; i < rows; ++i) {
        const float* const s = state + std::size_t{i} * width;
        for (std::uint32_t j = 0; j < width; ++j)
            out[j] = out[j] + (row[i] * s[j]);
    }
}

}  // namespace

void DeltaStep::run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept {
    const std::uint32_t keys = shape.key_width;
    const std::uint32_t width = shape.value_width;
    float* const q = reinterpret_cast<float*>(context.scratch);
    float* const k = q + keys;
    float* const v = k + keys;
    float* const d = v + width;
    const float scale = 1.0f / square_root(static_cast<float>(keys));
    for (std::uint32_t unit = first; unit < last; ++unit) {
        const TextRows& text = texts.texts[unit / shape.heads];
        const std::uint32_t head = unit % shape.heads;
        const std::uint32_t of_keys = head / (shape.heads / shape.key_heads) * keys;
        float* const state = states.from(text.place / room).data + std::size_t{head} * shape.state();
        for (std::uint32_t n = 0; n < text.count; ++n) {
            const std::uint32_t row = text.first + n;
            const float* const x = input.from(row).data;
            normalized(context, x + of_keys, keys, q);
            for (std::uint32_t i = 0; i < keys; ++i)
                q[i] = without_tiny(q[i] * scale);
            normalized(context, x + shape.keys() + of_keys, keys, k);
            activated(context, x + 2 * shape.keys() + head * width, width, v);
            const float left = scalar::exp2(-(weights.rates[head] * softplus(decay.from(row).data[head])));
            const bool begins = text.position + n == 0;
            for (std::uint32_t i = 0; i < shape.state(); ++i)
                state[i] = begins ? 0.0f : without_tiny(state[i] * left);
            multiply(k, state, keys, width, d);
            const float b = beta.from(row).data[head];
            for (std::uint32_t j = 0; j < width; ++j)
                d[j] = without_tiny((v[j] - d[j]) * b);
            for (std::uint32_t i = 0; i < keys; ++i) {
                float* const s = state + std::size_t{i} * width;
                for (std::uint32_t j = 0; j < width; ++j)
                    s[j] = without_tiny(s[j] + (k[i] * d[j]));
            }
            multiply(q, state, keys, width, out.from(row).data + head * width);
        }
    }
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
