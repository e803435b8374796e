// SPDX-License-Identifier: Apache-2.0
#include "etch/ops/state_space.hpp"

#include <cstring>

#include "carried_state.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

constexpr float kLimit = 16777216.0f;  // 2^24

float within(float x, float least, float most) noexcept {
    const float above = x < least ? least : x;
    return above > most ? most : above;
}

// S = t((S * left) + (b * u)), out = sum(c * S). out is none of u.
void change_state(float* state, std::uint32_t rows, std::uint32_t width, float left, const float* b, const float* u,
                  const float* c, float* out) noexcept {
    pass_all(state, rows, width, c, out, [left, b, u](auto values, std::uint32_t column) {
        using Values = decltype(values);
        return [left, b, u = u + column](std::uint32_t i, std::uint32_t j, const Values& value) -> Values {
            Values change;
            std::memcpy(&change, u + j * kCountOf<Values>, sizeof change);
            return (value * left) + (b[i] * change);
        };
    });
}

// A head's rows, one after the other, with what they need of a worker's scratch.
class Head {
  public:
    Head(const OpContext& context, const StateSpaceWeights& weights, const StateSpaceShape& shape,
         std::uint32_t head) noexcept
        : context_(context),
          shape_(shape),
          head_(head),
          of_group_(shape.values() + head / (shape.heads / shape.groups) * shape.state_width),
          rate_(weights.rates[head]),
          skip_(weights.skips[head]),
          b_(reinterpret_cast<float*>(context.scratch)),
          c_(b_ + shape.state_width),
          x_(c_ + shape.state_width),
          u_(x_ + shape.value_width) {}

    // `input`, `time` and `out` are the row's, of all heads, and so is `states`. `begins`: there is none yet.
    void run(const float* input, const float* time, bool begins, float* states, float* out) const noexcept {
        const std::uint32_t rows = shape_.state_width;
        const std::uint32_t width = shape_.value_width;
        float* const state = states + std::size_t{head_} * shape_.state();
        float* const to = out + head_ * width;
        activated(context_, input + head_ * width, width, x_);
        activated(context_, input + of_group_, rows, b_);
        activated(context_, input + of_group_ + shape_.groups * rows, rows, c_);
        const float d = within(softplus(time[head_]), shape_.least_time, shape_.most_time);
        for (std::uint32_t j = 0; j < width; ++j)
            u_[j] = without_tiny(x_[j] * d);
        if (begins) std::memset(state, 0, sizeof(float) * shape_.state());
        change_state(state, rows, width, scalar::exp2(-(rate_ * d)), b_, u_, c_, to);
        for (std::uint32_t j = 0; j < width; ++j)
            to[j] = within(to[j] + (skip_ * x_[j]), -kLimit, kLimit);
    }

  private:
    const OpContext& context_;
    const StateSpaceShape& shape_;
    std::uint32_t head_;
    std::uint32_t of_group_;  // where its group's B begins in the input, and behind those of all groups its C
    float rate_;
    float skip_;
    float* b_;
    float* c_;
    float* x_;
    float* u_;
};

}  // namespace

void StateSpace::run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept {
    for (std::uint32_t unit = first; unit < last; ++unit) {
        const Head head(context, weights, shape, unit);
        for (const TextPart part : TextParts(texts, block)) {
            for (std::uint32_t n = 0; n < part.count; ++n) {
                const std::uint32_t row = part.row + n;
                head.run(input.from(row).data, time.from(row).data, part.token + n == 0, state.data,
                         out.from(row).data);
            }
        }
    }
}

void StateSpaceStep::run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept {
    for (std::uint32_t unit = first; unit < last; ++unit) {
        const TextRows& text = texts.texts[unit / shape.heads];
        const Head head(context, weights, shape, unit % shape.heads);
        for (std::uint32_t n = 0; n < text.count; ++n) {
            const std::uint32_t row = text.first + n;
            head.run(input.from(row).data, time.from(row).data, text.position + n == 0,
                     states.from(text.place / room).data, out.from(row).data);
        }
    }
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
