// SPDX-License-Identifier: Apache-2.0
#include "etch/ops/delta_rule.hpp"

#include <cstring>

#include "../kernels/compiler.hpp"
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

// What stands side by side in a row of a state, which the compiler makes one instruction each of: for every value the
// operations are the same, in the same order. Other processors have it value by value.
#if defined(__SSE2__) || defined(__ARM_NEON) || defined(__riscv_vector) || defined(__wasm_simd128__)
using Columns [[gnu::vector_size(16)]] = float;

Columns without_tiny(Columns x) noexcept {
    constexpr float kLeast = polynomials::kLeastMaximum;
    return ((x < kLeast) & (x > -kLeast)) ? Columns{} : x;
}
#else
using Columns = float;
#endif

template <class Values>
constexpr std::uint32_t kCountOf = sizeof(Values) / sizeof(float);

// That go through the rows of a state, so that their sums stay in registers; vectors as many as two lines of the cache,
// which are a fifth faster than one on x86-64.
constexpr std::uint32_t kTogether = 4;
constexpr std::uint32_t kMostTogether = kCountOf<Columns> == 1 ? kTogether : 2 * kTogether;

// Goes through the first columns of a state, which are `count` Values wide, row by row: what is there becomes
// change(row, which of them, value), and out the sum in order of factors[row] times that.
template <class Values, std::uint32_t count, class Change>
void pass(float* state, std::uint32_t rows, std::uint32_t width, const float* factors, float* out,
          Change change) noexcept {
    Values sums[count] = {};
    for (std::uint32_t i = 0; i < rows; ++i) {
        float* const s = state + std::size_t{i} * width;
        const float factor = factors[i];
        ETCH_UNROLL
        for (std::uint32_t j = 0; j < count; ++j) {
            Values value;
            std::memcpy(&value, s + j * kCountOf<Values>, sizeof value);
            value = without_tiny(change(i, j, value));
            std::memcpy(s + j * kCountOf<Values>, &value, sizeof value);
            sums[j] = sums[j] + (factor * value);
        }
    }
    std::memcpy(out, sums, sizeof sums);
}

// Of the columns from `first` on as many as make whole passes of `count` Values; returns the first of the others.
template <class Values, std::uint32_t count, class ChangeOf>
std::uint32_t passes(float* state, std::uint32_t rows, std::uint32_t width, const float* factors, float* out,
                     ChangeOf change_of, std::uint32_t first) noexcept {
    constexpr std::uint32_t kColumns = count * kCountOf<Values>;
    std::uint32_t j = first;
    for (; width - j >= kColumns; j += kColumns)
        pass<Values, count>(state + j, rows, width, factors, out + j, change_of(Values{}, j));
    return j;
}

// Of all columns: those that make whole passes, then the others one by one. `change_of(values, column)` is what a pass
// of such values changes columns by, from that one on.
template <class ChangeOf>
void pass_all(float* state, std::uint32_t rows, std::uint32_t width, const float* factors, float* out,
              ChangeOf change_of) noexcept {
    std::uint32_t j = passes<Columns, kMostTogether>(state, rows, width, factors, out, change_of, 0);
    j = passes<Columns, kTogether>(state, rows, width, factors, out, change_of, j);
    passes<float, 1>(state, rows, width, factors, out, change_of, j);
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
