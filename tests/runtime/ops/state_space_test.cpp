// SPDX-License-Identifier: Apache-2.0
// State spaces against their header's formula, in every kernel set, row by row against all rows at once, in blocks of
// any size, and in any order of their units.
#include "etch/ops/state_space.hpp"

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
constexpr float kAny = 0x1p127f;
constexpr StateSpaceShape kShapes[] = {{1, 1, 1, 1, 0.0f, kAny},   {4, 2, 5, 3, 0.0f, kAny},
                                       {3, 3, 4, 17, 0.25f, 1.5f}, {6, 2, 33, 16, 0.0f, kAny},
                                       {2, 1, 3, 53, 1.0f, 1.0f},  {2, 1, 3, 37, 0.0f, 0.5f}};

float kept(float x) {
    return std::fabs(x) < 0x1p-40f ? 0.0f : x;
}

struct Values {
    explicit Values(const StateSpaceShape& of)
        : shape(of),
          width(of.values() + 2 * of.groups * of.state_width),
          rates(Random(kSeed).floats(of.heads, 3.0f)),
          skips(Random(kSeed + 1).floats(of.heads, 2.0f)),
          input(Random(kSeed + 2).floats(kRows * width, 3.0f)),
          time(Random(kSeed + 3).floats(kRows * of.heads, 4.0f)),
          weights{rates.data(), skips.data()} {
        for (float& rate : rates)
            rate = std::fabs(rate) + 0x1p-6f;
        input[2] = 0x1p-100f;  // what is too small to be kept
    }

    StateSpaceShape shape;
    std::uint32_t width;
    std::vector<float> rates, skips, input, time;
    StateSpaceWeights weights;
};

// By plain loops, head by head.
std::vector<float> wanted(const Values& of) {
    const StateSpaceShape& shape = of.shape;
    const std::uint32_t rows = shape.state_width;
    const std::uint32_t width = shape.value_width;
    std::vector<float> out(kRows * shape.values(), NAN);
    for (const TextRows& text : kTexts) {
        for (std::uint32_t head = 0; head < shape.heads; ++head) {
            const std::uint32_t group = head * shape.groups / shape.heads;
            std::vector<float> state(shape.state(), 0.0f);
            for (std::uint32_t row = text.first; row < text.first + text.count; ++row) {
                const auto part = [&](std::uint32_t begin, std::uint32_t count) {
                    std::vector<float> found(count);
                    for (std::uint32_t i = 0; i < count; ++i) {
                        const float x = of.input[row * of.width + begin + i];
                        found[i] = kept(x * scalar::sigmoid(x));
                    }
                    return found;
                };
                const std::vector<float> x = part(head * width, width);
                const std::vector<float> b = part(shape.values() + group * rows, rows);
                const std::vector<float> c = part(shape.values() + (shape.groups + group) * rows, rows);
                const float a = of.time[row * shape.heads + head];
                const float softplus =
                    (a > 0.0f ? a : 0.0f) + scalar::log1p(scalar::exp2(std::fabs(a) * polynomials::kMinusLog2E));
                const float d = std::min(std::max(softplus, shape.least_time), shape.most_time);
                const float left = scalar::exp2(-(of.rates[head] * d));
                for (std::uint32_t j = 0; j < width; ++j) {
                    const float u = kept(x[j] * d);
                    float sum = 0.0f;
                    for (std::uint32_t i = 0; i < rows; ++i) {
                        float& s = state[i * width + j];
                        s = kept((s * left) + (b[i] * u));
                        sum = sum + (c[i] * s);
                    }
                    const float y = sum + (of.skips[head] * x[j]);
                    out[row * shape.values() + head * width + j] = std::clamp(y, -0x1p24f, 0x1p24f);
                }
            }
        }
    }
    return out;
}

// Rows of all texts, `at_once` of each in a pass; every state begins with what another text has left.
std::vector<float> stepped(Values& of, std::uint32_t at_once, const KernelSet& kernels) {
    const StateSpaceShape& shape = of.shape;
    std::vector<float> out(kRows * shape.values(), NAN);
    std::vector<float> states(3 * shape.heads * shape.state(), NAN);
    EdgeArray<std::uint8_t> scratch(state_space_scratch_bytes(shape), 0x5A);
    for (std::uint32_t position = 0; position < 9; position += at_once) {
        for (const TextRows& text : kTexts) {  // a pass of its own, its rows lie where they are
            if (position >= text.count) continue;
            const std::uint32_t some = text.count - position < at_once ? text.count - position : at_once;
            const TextRows rows[] = {{text.first + position, some, position, position + some, text.place}};
            const StateSpaceStep op{of.weights,
                                    shape,
                                    {rows, 1},
                                    {of.input.data(), of.width},
                                    {of.time.data(), shape.heads},
                                    {states.data(), shape.heads * shape.state()},
                                    {out.data(), shape.values()},
                                    kRoom};
            run_backwards(op, {kernels, scratch.data()});
        }
    }
    return out;
}

TEST(StateSpace, IsItsFormulaInEverySet) {
    for (const StateSpaceShape& shape : kShapes) {
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
    const StateSpaceShape& shape = of.shape;
    std::vector<float> out(texts.rows() * shape.values(), NAN);
    std::vector<float> state(shape.heads * shape.state(), NAN);
    EdgeArray<std::uint8_t> scratch(state_space_scratch_bytes(shape), 0x5A);
    for (const RowBlock block : RowBlocks(texts.rows(), block_rows)) {
        const StateSpace op{of.weights,
                            shape,
                            block,
                            texts,
                            F32Rows{of.input.data(), of.width}.from(block.first),
                            F32Rows{of.time.data(), shape.heads}.from(block.first),
                            {state.data(), shape.heads * shape.state()},
                            F32Rows{out.data(), shape.values()}.from(block.first)};
        EXPECT_EQ(op.units(), shape.heads);
        for (std::uint32_t unit = op.units(); unit-- > 0;)
            op.run({kernels, scratch.data()}, unit, unit + 1);
    }
    return out;
}

TEST(StateSpace, BlocksAreRowByRowInEverySet) {
    for (const StateSpaceShape& shape : kShapes) {
        Values values(shape);
        const std::vector<float> want = wanted(values);
        for (const KernelSet* kernels : usable_sets()) {
            for (const std::uint32_t rows : {1u, 2u, 5u, 10u, kRows})
                EXPECT_TRUE(same_bits(in_blocks(values, {kTexts, 3}, rows, *kernels), want)) << kernels->name << rows;
        }
    }
}

TEST(StateSpace, KeepsWhatItHandsOnWithinItsLimit) {
    Values values(kShapes[1]);
    values.input.assign(values.input.size(), 0x1p14f);
    const std::vector<float> want = wanted(values);
    EXPECT_EQ(*std::max_element(want.begin(), want.end()), 0x1p24f);
    EXPECT_TRUE(same_bits(stepped(values, 2, *usable_sets()[0]), want));
}

TEST(StateSpace, TextsTogether) {
    const StateSpaceShape shape = kShapes[1];
    Values values(shape);
    std::vector<float> out(kRows * shape.values(), NAN);
    std::vector<float> states(3 * shape.heads * shape.state(), NAN);
    EdgeArray<std::uint8_t> scratch(state_space_scratch_bytes(shape), 0x5A);
    const StateSpaceStep op{values.weights,
                            shape,
                            {kTexts, 3},
                            {values.input.data(), values.width},
                            {values.time.data(), shape.heads},
                            {states.data(), shape.heads * shape.state()},
                            {out.data(), shape.values()},
                            kRoom};
    EXPECT_EQ(op.units(), 3 * shape.heads);
    op.run({*usable_sets()[0], scratch.data()}, 0, op.units());
    EXPECT_TRUE(same_bits(out, wanted(values)));
}

}  // namespace
}  // namespace etch::testing
