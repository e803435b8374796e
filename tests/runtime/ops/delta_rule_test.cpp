// SPDX-License-Identifier: Apache-2.0
// The gated delta rule against its header's formula, in every kernel set, row by row against all rows at once, in
// blocks of any size, and in any order of its units.
#include "etch/ops/delta_rule.hpp"

#include <algorithm>
#include <cmath>

#include "carried_rows.hpp"

namespace etch::testing {
namespace {

constexpr DeltaShape kShapes[] = {{1, 1, 1, 1},   {4, 2, 5, 3},  {3, 3, 4, 17},
                                  {6, 2, 33, 16}, {2, 1, 3, 53}, {2, 1, 3, 37}};

struct Values {
    explicit Values(const DeltaShape& of)
        : shape(of),
          width(2 * of.keys() + of.heads * of.value_width),
          out_width(of.heads * of.value_width),
          rates(Random(kSeed).floats(of.heads, 3.0f)),
          input(Random(kSeed + 1).floats(kRows * width, 3.0f)),
          decay(Random(kSeed + 2).floats(kRows * of.heads, 4.0f)),
          beta(Random(kSeed + 3).floats(kRows * of.heads, 1.0f)),
          weights{rates.data()} {
        for (float& rate : rates)
            rate = std::fabs(rate) + 0x1p-6f;
        for (float& b : beta)
            b = std::fabs(b);
        input[3] = 0x1p-100f;  // what is too small to be kept
    }

    std::size_t scratch_bytes() const { return delta_scratch_bytes(shape); }

    DeltaStep step(const Texts& texts, float* states, float* out) {
        return {weights,
                shape,
                texts,
                {input.data(), width},
                {decay.data(), shape.heads},
                {beta.data(), shape.heads},
                {states, shape.heads * shape.state()},
                {out, out_width},
                kRoom};
    }

    DeltaRule rule(RowBlock block, const Texts& texts, float* state, float* out) {
        return {weights,
                shape,
                block,
                texts,
                F32Rows{input.data(), width}.from(block.first),
                F32Rows{decay.data(), shape.heads}.from(block.first),
                F32Rows{beta.data(), shape.heads}.from(block.first),
                {state, shape.heads * shape.state()},
                F32Rows{out, out_width}.from(block.first)};
    }

    DeltaShape shape;
    std::uint32_t width;
    std::uint32_t out_width;
    std::vector<float> rates, input, decay, beta;
    DeltaWeights weights;
};

std::vector<float> silu(const std::vector<float>& x) {
    std::vector<float> found = x;
    for (float& value : found)
        value = kept(value * scalar::sigmoid(value));
    return found;
}

float product(const std::vector<float>& row, const std::vector<float>& state, std::uint32_t j, std::uint32_t width) {
    float sum = 0.0f;
    for (std::size_t i = 0; i < row.size(); ++i)
        sum = sum + (row[i] * state[i * width + j]);
    return sum;
}

std::vector<float> normalized(const std::vector<float>& x) {
    std::vector<float> found = silu(x);
    float squares = 0.0f;
    for (const float value : found)
        squares = squares + (value * value);
    const float factor = 1.0f / std::sqrt(squares + 1e-6f);
    for (float& value : found)
        value = kept(value * factor);
    return found;
}

// By plain loops, head by head.
std::vector<float> wanted(const Values& of) {
    const DeltaShape& shape = of.shape;
    const std::uint32_t keys = shape.key_width;
    const std::uint32_t width = shape.value_width;
    std::vector<float> out(kRows * shape.heads * width, NAN);
    for (const TextRows& text : kTexts) {
        for (std::uint32_t head = 0; head < shape.heads; ++head) {
            const std::uint32_t key_head = head * shape.key_heads / shape.heads;
            std::vector<float> state(shape.state(), 0.0f);
            for (std::uint32_t row = text.first; row < text.first + text.count; ++row) {
                const auto part = [&](std::uint32_t begin, std::uint32_t count) {
                    const auto first = of.input.begin() + static_cast<std::ptrdiff_t>(row * of.width + begin);
                    return std::vector<float>(first, first + static_cast<std::ptrdiff_t>(count));
                };
                std::vector<float> q = normalized(part(key_head * keys, keys));
                for (float& value : q)
                    value = kept(value * (1.0f / std::sqrt(static_cast<float>(keys))));
                const std::vector<float> k = normalized(part(shape.keys() + key_head * keys, keys));
                const std::vector<float> v = silu(part(2 * shape.keys() + head * width, width));
                const float left = scalar::exp2(-(of.rates[head] * softplus(of.decay[row * shape.heads + head])));
                for (float& value : state)
                    value = kept(value * left);
                std::vector<float> change(width);
                for (std::uint32_t j = 0; j < width; ++j)
                    change[j] = kept((v[j] - product(k, state, j, width)) * of.beta[row * shape.heads + head]);
                for (std::uint32_t i = 0; i < keys; ++i) {
                    for (std::uint32_t j = 0; j < width; ++j)
                        state[i * width + j] = kept(state[i * width + j] + (k[i] * change[j]));
                }
                for (std::uint32_t j = 0; j < width; ++j)
                    out[(row * shape.heads + head) * width + j] = product(q, state, j, width);
            }
        }
    }
    return out;
}

TEST(DeltaRule, IsItsFormulaInEverySet) {
    for (const DeltaShape& shape : kShapes) {
        Values values(shape);
        expect_steps(values, wanted(values));
    }
}

TEST(DeltaRule, BlocksAreRowByRowInEverySet) {
    for (const DeltaShape& shape : kShapes) {
        Values values(shape);
        expect_blocks(values, wanted(values));
    }
}

TEST(DeltaRule, FirstRowsOnly) {
    Values values(kShapes[1]);
    const std::uint32_t width = kShapes[1].heads * kShapes[1].value_width;
    const std::vector<float> all = wanted(values);
    std::vector<float> want;
    for (std::uint32_t t = 0; t < 3; ++t) {  // their rows are moved together
        const std::uint32_t row = kTexts[t].first;
        want.insert(want.end(), all.data() + row * width, all.data() + (row + 1) * width);
        for (auto [rows, of] :
             {std::pair{&values.input, values.width}, std::pair{&values.decay, 4u}, std::pair{&values.beta, 4u}})
            std::copy_n(rows->data() + row * of, of, rows->data() + t * of);
    }
    for (const std::uint32_t rows : {1u, 2u, 3u})
        EXPECT_TRUE(same_bits(in_blocks(values, Texts{kTexts, 3}.first_rows(), rows, *usable_sets()[0]), want));
}

TEST(DeltaRule, TextsTogether) {
    Values values(kShapes[1]);
    EXPECT_TRUE(same_bits(together(values, *usable_sets()[0]), wanted(values)));
}

}  // namespace
}  // namespace etch::testing
