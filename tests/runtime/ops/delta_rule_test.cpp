// SPDX-License-Identifier: Apache-2.0
// The gated delta rule against its header's formula, in every kernel set, row by row against all rows at once, in
// blocks of any size, and in any order of its units.
#include "etch/ops/delta_rule.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/kernel_set.hpp"
#include "kernels/scalar/math.hpp"
#include "support.hpp"
#include "units.hpp"

namespace etch::testing {
namespace {

constexpr TextRows kTexts[] = {whole_text(1), whole_text(9, 1, 16), whole_text(4, 10, 32)};
constexpr std::uint32_t kRows = 14;
constexpr std::uint32_t kRoom = 16;
constexpr DeltaShape kShapes[] = {{1, 1, 1, 1},   {4, 2, 5, 3},  {3, 3, 4, 17},
                                  {6, 2, 33, 16}, {2, 1, 3, 53}, {2, 1, 3, 37}};

float kept(float x) {
    return std::fabs(x) < 0x1p-40f ? 0.0f : x;
}

struct Values {
    explicit Values(const DeltaShape& of)
        : shape(of),
          width(2 * of.keys() + of.heads * of.value_width),
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

    DeltaShape shape;
    std::uint32_t width;
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
                const float a = of.decay[row * shape.heads + head];
                const float softplus =
                    (a > 0.0f ? a : 0.0f) + scalar::log1p(scalar::exp2(std::fabs(a) * polynomials::kMinusLog2E));
                const float left = scalar::exp2(-(of.rates[head] * softplus));
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

// Rows of all texts, `at_once` of each in a pass; every state begins with what another text has left.
std::vector<float> stepped(Values& of, std::uint32_t at_once, const KernelSet& kernels) {
    const DeltaShape& shape = of.shape;
    const std::uint32_t out_width = shape.heads * shape.value_width;
    std::vector<float> out(kRows * out_width, NAN);
    std::vector<float> states(3 * shape.heads * shape.state(), NAN);
    EdgeArray<std::uint8_t> scratch(delta_scratch_bytes(shape), 0x5A);
    for (std::uint32_t position = 0; position < 9; position += at_once) {
        for (const TextRows& text : kTexts) {  // a pass of its own, its rows lie where they are
            if (position >= text.count) continue;
            const std::uint32_t some = text.count - position < at_once ? text.count - position : at_once;
            const TextRows rows[] = {{text.first + position, some, position, position + some, text.place}};
            const DeltaStep op{of.weights,
                               shape,
                               {rows, 1},
                               {of.input.data(), of.width},
                               {of.decay.data(), shape.heads},
                               {of.beta.data(), shape.heads},
                               {states.data(), shape.heads * shape.state()},
                               {out.data(), out_width},
                               kRoom};
            run_backwards(op, {kernels, scratch.data()});
        }
    }
    return out;
}

TEST(DeltaRule, IsItsFormulaInEverySet) {
    for (const DeltaShape& shape : kShapes) {
        Values values(shape);
        const std::vector<float> want = wanted(values);
        for (const KernelSet* kernels : usable_sets()) {
            for (const std::uint32_t at_once : {1u, 2u, 9u})
                EXPECT_TRUE(same_bits(stepped(values, at_once, *kernels), want)) << kernels->name << " " << at_once;
        }
    }
}

// All rows in blocks; the state begins with what another batch has left.
std::vector<float> in_blocks(Values& of, const Texts& texts, std::uint32_t block_rows, const KernelSet& kernels) {
    const DeltaShape& shape = of.shape;
    const std::uint32_t out_width = shape.heads * shape.value_width;
    std::vector<float> out(texts.rows() * out_width, NAN);
    std::vector<float> state(shape.heads * shape.state(), NAN);
    EdgeArray<std::uint8_t> scratch(delta_scratch_bytes(shape), 0x5A);
    for (const RowBlock block : RowBlocks(texts.rows(), block_rows)) {
        const DeltaRule op{of.weights,
                           shape,
                           block,
                           texts,
                           F32Rows{of.input.data(), of.width}.from(block.first),
                           F32Rows{of.decay.data(), shape.heads}.from(block.first),
                           F32Rows{of.beta.data(), shape.heads}.from(block.first),
                           {state.data(), shape.heads * shape.state()},
                           F32Rows{out.data(), out_width}.from(block.first)};
        EXPECT_EQ(op.units(), shape.heads);
        for (std::uint32_t unit = op.units(); unit-- > 0;)
            op.run({kernels, scratch.data()}, unit, unit + 1);
    }
    return out;
}

TEST(DeltaRule, BlocksAreRowByRowInEverySet) {
    for (const DeltaShape& shape : kShapes) {
        Values values(shape);
        const std::vector<float> want = wanted(values);
        for (const KernelSet* kernels : usable_sets()) {
            for (const std::uint32_t rows : {1u, 2u, 5u, 10u, kRows})
                EXPECT_TRUE(same_bits(in_blocks(values, {kTexts, 3}, rows, *kernels), want)) << kernels->name << rows;
        }
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
    const DeltaShape shape = kShapes[1];
    Values values(shape);
    const std::uint32_t out_width = shape.heads * shape.value_width;
    std::vector<float> out(kRows * out_width, NAN);
    std::vector<float> states(3 * shape.heads * shape.state(), NAN);
    EdgeArray<std::uint8_t> scratch(delta_scratch_bytes(shape), 0x5A);
    const DeltaStep op{values.weights,
                       shape,
                       {kTexts, 3},
                       {values.input.data(), values.width},
                       {values.decay.data(), shape.heads},
                       {values.beta.data(), shape.heads},
                       {states.data(), shape.heads * shape.state()},
                       {out.data(), out_width},
                       kRoom};
    EXPECT_EQ(op.units(), 3 * shape.heads);
    op.run({*usable_sets()[0], scratch.data()}, 0, op.units());
    EXPECT_TRUE(same_bits(out, wanted(values)));
}

}  // namespace
}  // namespace etch::testing
