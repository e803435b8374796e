// SPDX-License-Identifier: Apache-2.0
#include "etch/ops/delta_rule.hpp"

#include <cstring>

#include "../kernels/square_root.hpp"
#include "carried_state.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

constexpr float kEpsilon = 1e-6f;

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

// S = t(S * left), out = sum(k * S).
void decay_state(float* state, std::uint32_t rows, std::uint32_t width, float left, const float* k,
                 float* out) noexcept {
    pass_all(state, rows, width, k, out, [left](auto values, std::uint32_t) {
        using Values = decltype(values);
        return [left](std::uint32_t, std::uint32_t, const Values& value) -> Values { return value * left; };
    });
}

// S = t(S + (k * d)), out = sum(q * S). out is none of d.
void correct_state(float* state, std::uint32_t rows, std::uint32_t width, const float* k, const float* d,
                   const float* q, float* out) noexcept {
    pass_all(state, rows, width, q, out, [k, d](auto values, std::uint32_t column) {
        using Values = decltype(values);
        return [k, d = d + column](std::uint32_t i, std::uint32_t j, const Values& value) -> Values {
            Values change;
            std::memcpy(&change, d + j * kCountOf<Values>, sizeof change);
            return value + (k[i] * change);
        };
    });
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
        if (begins) std::memset(state, 0, sizeof(float) * shape_.state());
        decay_state(state, keys, width, left, k_, d_);
        for (std::uint32_t j = 0; j < width; ++j)
            d_[j] = without_tiny((v_[j] - d_[j]) * beta[head_]);
        correct_state(state, keys, width, k_, d_, q_, out + head_ * width);
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
