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

// A head's rows, one after the other, with what they need of a worker's scratch.
class Head {
  public:
    Head(const OpContext& context, const DeltaWeights& weights, const DeltaShape& shape, std::uint32_t head) noexcept
        : context_(context),
          shape_(shape),
          head_(head),
          of_keys_(head / (shape.heads / shape.key_heads) * shape.key_width),
          rate_(weights.rates[head]),
          scale_(1.0f / square_root(static_cast<float>(shape.key_width))),
          q_(reinterpret_cast<float*>(context.scratch)),
          k_(q_ + shape.key_width),
          v_(k_ + shape.key_width),
          d_(v_ + shape.value_width) {}

    // `input`, `decay`, `beta` and `out` are the row's, of all heads, and so is `states`. `begins`: there is none yet.
    void run(const float* input, const float* decay, const float* beta, bool begins, float* states,
             float* out) const noexcept {
        const std::uint32_t keys = shape_.key_width;
        const std::uint32_t width = shape_.value_width;
        float* const state = states + std::size_t{head_} * shape_.state();
        normalized(context_, input + of_keys_, keys, q_);
        for (std::uint32_t i = 0; i < keys; ++i)
            q_[i] = without_tiny(q_[i] * scale_);
        normalized(context_, input + shape_.keys() + of_keys_, keys, k_);
        activated(context_, input + 2 * shape_.keys() + head_ * width, width, v_);
        const float left = scalar::exp2(-(rate_ * softplus(decay[head_])));
        for (std::uint32_t i = 0; i < shape_.state(); ++i)
            state[i] = begins ? 0.0f : without_tiny(state[i] * left);
        multiply(k_, state, keys, width, d_);
        for (std::uint32_t j = 0; j < width; ++j)
            d_[j] = without_tiny((v_[j] - d_[j]) * beta[head_]);
        for (std::uint32_t i = 0; i < keys; ++i) {
            float* const s = state + std::size_t{i} * width;
            for (std::uint32_t j = 0; j < width; ++j)
                s[j] = without_tiny(s[j] + (k_[i] * d_[j]));
        }
        multiply(q_, state, keys, width, out + head_ * width);
    }

  private:
    const OpContext& context_;
    const DeltaShape& shape_;
    std::uint32_t head_;
    std::uint32_t of_keys_;  // where its queries begin in the input, and behind those of all heads its keys
    float rate_;
    float scale_;
    float* q_;
    float* k_;
    float* v_;
    float* d_;
};

}  // namespace

void DeltaRule::run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept {
    for (std::uint32_t unit = first; unit < last; ++unit) {
        const Head head(context, weights, shape, unit);
        for (const TextPart part : TextParts(texts, block)) {
            for (std::uint32_t n = 0; n < part.count; ++n) {
                const std::uint32_t row = part.row + n;
                head.run(input.from(row).data, decay.from(row).data, beta.from(row).data, part.token + n == 0,
                         state.data, out.from(row).data);
            }
        }
    }
}

void DeltaStep::run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept {
    for (std::uint32_t unit = first; unit < last; ++unit) {
        const TextRows& text = texts.texts[unit / shape.heads];
        const Head head(context, weights, shape, unit % shape.heads);
        for (std::uint32_t n = 0; n < text.count; ++n) {
            const std::uint32_t row = text.first + n;
            head.run(input.from(row).data, decay.from(row).data, beta.from(row).data, text.position + n == 0,
                     states.from(text.place / room).data, out.from(row).data);
        }
    }
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
