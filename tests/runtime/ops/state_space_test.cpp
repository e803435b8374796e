// SPDX-License-Identifier: Apache-2.0
// State spaces against their header's formula, in every kernel set, row by row against all rows at once, in blocks of
// any size, and in any order of their units.
#include "etch/ops/state_space.hpp"

#include <algorithm>
#include <cmath>

#include "carried_rows.hpp"

namespace etch::testing {
namespace {

constexpr float kAny = 0x1p127f;
constexpr StateSpaceShape kShapes[] = {{1, 1, 1, 1, 0.0f, kAny},   {4, 2, 5, 3, 0.0f, kAny},
                                       {3, 3, 4, 17, 0.25f, 1.5f}, {6, 2, 33, 16, 0.0f, kAny},
                                       {2, 1, 3, 53, 1.0f, 1.0f},  {2, 1, 3, 37, 0.0f, 0.5f}};

struct Values {
    explicit Values(const StateSpaceShape& of)
        : shape(of),
          width(of.values() + 2 * of.groups * of.state_width),
          out_width(of.values()),
          rates(Random(kSeed).floats(of.heads, 3.0f)),
          skips(Random(kSeed + 1).floats(of.heads, 2.0f)),
          input(Random(kSeed + 2).floats(kRows * width, 3.0f)),
          time(Random(kSeed + 3).floats(kRows * of.heads, 4.0f)),
          weights{rates.data(), skips.data()} {
        for (float& rate : rates)
            rate = std::fabs(rate) + 0x1p-6f;
        input[2] = 0x1p-100f;  // what is too small to be kept
    }

    std::size_t scratch_bytes() const { return state_space_scratch_bytes(shape); }

    StateSpaceStep step(const Texts& texts, float* states, float* out) {
        return {weights,
                shape,
                texts,
                {input.data(), width},
                {time.data(), shape.heads},
                {states, shape.heads * shape.state()},
                {out, out_width},
                kRoom};
    }

    StateSpace rule(RowBlock block, const Texts& texts, float* state, float* out) {
        return {weights,
                shape,
                block,
                texts,
                F32Rows{input.data(), width}.from(block.first),
                F32Rows{time.data(), shape.heads}.from(block.first),
                {state, shape.heads * shape.state()},
                F32Rows{out, out_width}.from(block.first)};
    }

    StateSpaceShape shape;
    std::uint32_t width;
    std::uint32_t out_width;
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
                const float time = softplus(of.time[row * shape.heads + head]);
                const float d = std::min(std::max(time, shape.least_time), shape.most_time);
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

TEST(StateSpace, IsItsFormulaInEverySet) {
    for (const StateSpaceShape& shape : kShapes) {
        Values values(shape);
        expect_steps(values, wanted(values));
    }
}

TEST(StateSpace, BlocksAreRowByRowInEverySet) {
    for (const StateSpaceShape& shape : kShapes) {
        Values values(shape);
        expect_blocks(values, wanted(values));
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
    Values values(kShapes[1]);
    EXPECT_TRUE(same_bits(together(values, *usable_sets()[0]), wanted(values)));
}

}  // namespace
}  // namespace etch::testing
