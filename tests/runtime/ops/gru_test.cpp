// SPDX-License-Identifier: Apache-2.0
// The GRU against its header's formula in doubles, and every set, cut and batch against the scalar set in one piece.
#include "etch/ops/gru.hpp"

#include <cmath>
#include <memory>

#include "support.hpp"
#include "units.hpp"

namespace etch::testing {
namespace {

constexpr std::uint32_t kWidths[] = {1, 13, 16, 33};
constexpr TextRows kTexts[] = {whole_text(1), whole_text(9, 1, 16), whole_text(4, 10, 32)};
constexpr std::uint32_t kRows = 14;

// Scratch that ends where the op's share of it does.
struct Scratch {
    explicit Scratch(Packing packing, std::uint32_t width)
        : bytes(round_up(gru_scratch_bytes(packing, width) + expanded_bytes(packing, width), 64), 0x5A) {}
    OpContext context(const KernelSet& set) { return {set, bytes.data()}; }

    EdgeArray<std::uint8_t> bytes;
};

// Weights of both directions and the rows' input products.
struct Values {
    explicit Values(std::uint32_t of_width) : width(of_width) {
        for (std::uint32_t direction = 0; direction < 2; ++direction) {
            Random random(kSeed + direction);
            w[direction] = random.floats(3 * width * width, 2.0f / std::sqrt(static_cast<float>(width)));
            q[direction] = random.s8s(3 * width * width);
            scales[direction] = random.floats(3 * width, 0.002f, 0.01f);
            bias[direction] = random.floats(3 * width, 0.5f);
        }
        input = Random(kSeed + 2).floats(kRows * 6 * width, 2.0f);
    }

    std::uint32_t width;
    std::vector<float> w[2];
    std::vector<std::int8_t> q[2];
    std::vector<float> scales[2];
    std::vector<float> bias[2];
    std::vector<float> input;  // [rows][2][3 * width]
};

// All rows of some texts, `at_once` steps at a time, units from the last to the first.
template <class Weights>
std::vector<float> states(const KernelSet& set, const Weights* forward, const Weights* backward, std::uint32_t width,
                          std::vector<float> input, const Texts& texts, std::uint32_t at_once) {
    const std::uint32_t directions = backward == nullptr ? 1 : 2;
    Scratch scratch(set.packing, width);
    std::vector<float> out(kRows * directions * width, NAN);
    for (const RowBlock steps : RowBlocks(most_rows(texts), at_once)) {
        const Gru<Weights> op{
            forward, backward, texts, steps, {input.data(), directions * 3 * width}, {out.data(), directions * width}};
        EXPECT_EQ(op.units(), texts.count * directions);
        run_backwards(op, scratch.context(set));
    }
    return out;
}

struct Both {
    std::vector<float> s8;
    std::vector<float> f32;
};

Both both_kinds(const KernelSet& set, const Values& v, const Texts& texts, std::uint32_t at_once) {
    std::vector<EdgeArray<std::int8_t>> bytes;
    std::vector<EdgeArray<float>> floats;
    for (std::uint32_t direction = 0; direction < 2; ++direction) {
        bytes.push_back(pack(set.packing, v.q[direction], 3 * v.width, v.width));
        floats.push_back(pack(set.packing, v.w[direction], 3 * v.width, v.width));
    }
    const std::uint32_t outputs = 3 * v.width;
    const S8Weights s8[] = {{bytes[0].data(), v.scales[0].data(), v.bias[0].data(), outputs, v.width},
                            {bytes[1].data(), v.scales[1].data(), nullptr, outputs, v.width}};
    const F32Weights f32[] = {{floats[0].data(), v.bias[0].data(), outputs, v.width},
                              {floats[1].data(), nullptr, outputs, v.width}};
    return {states(set, &s8[0], &s8[1], v.width, v.input, texts, at_once),
            states(set, &f32[0], &f32[1], v.width, v.input, texts, at_once)};
}

constexpr Texts kAll{kTexts, 3};

double sigmoid_of(double x) {
    return 1.0 / (1.0 + std::exp(-x));
}

TEST(Gru, MeansWhatItsHeaderSays) {
    for (const std::uint32_t width : kWidths) {
        const Values v(width);
        const std::vector<float> found = both_kinds(scalar(Packing::panel), v, kAll, 100).f32;
        for (const TextRows& text : kTexts) {
            for (std::uint32_t direction = 0; direction < 2; ++direction) {
                std::vector<double> h(width, 0.0);
                for (std::uint32_t s = 0; s < text.count; ++s) {
                    const std::uint32_t row = text.first + (direction == 0 ? s : text.count - 1 - s);
                    const float* const a = &v.input[(std::size_t{row} * 2 + direction) * 3 * width];
                    std::vector<double> b(3 * width);
                    for (std::uint32_t i = 0; i < 3 * width; ++i) {
                        b[i] = direction == 0 ? static_cast<double>(v.bias[0][i]) : 0.0;
                        for (std::uint32_t k = 0; k < width; ++k)
                            b[i] += static_cast<double>(v.w[direction][i * width + k]) * h[k];
                    }
                    for (std::uint32_t i = 0; i < width; ++i) {
                        const double r = sigmoid_of(static_cast<double>(a[i]) + b[i]);
                        const double z = sigmoid_of(static_cast<double>(a[width + i]) + b[width + i]);
                        const double n = std::tanh(static_cast<double>(a[2 * width + i]) + r * b[2 * width + i]);
                        h[i] = (1 - z) * n + z * h[i];
                        const float got = found[(std::size_t{row} * 2 + direction) * width + i];
                        ASSERT_NEAR(static_cast<double>(got), h[i], 1e-5) << row << ", " << i << " of " << width;
                    }
                }
            }
        }
    }
}

class GruSets : public EachSet {};
INSTANTIATE_TEST_SUITE_P(Ops, GruSets, ::testing::ValuesIn(usable_sets()), set_name);

TEST_P(GruSets, HasTheScalarBitsHoweverItIsCut) {
    for (const std::uint32_t width : kWidths) {
        const Values v(width);
        const Both want = both_kinds(scalar(set().packing), v, kAll, 100);
        for (const std::uint32_t at_once : {1u, 2u, 4u, 100u}) {
            const Both found = both_kinds(set(), v, kAll, at_once);
            EXPECT_TRUE(same_bits(found.s8, want.s8)) << width << ", steps " << at_once;
            EXPECT_TRUE(same_bits(found.f32, want.f32)) << width << ", steps " << at_once;
        }
    }
}

TEST_P(GruSets, ATextsBitsDoNotDependOnTheOthers) {
    const Values v(13);
    const Both together = both_kinds(set(), v, kAll, 3);
    for (const TextRows& text : kTexts) {
        const Both alone = both_kinds(set(), v, {&text, 1}, 3);
        for (std::size_t i = text.first * 26; i < (text.first + text.count) * 26; ++i) {
            ASSERT_TRUE(same_bits(alone.s8[i], together.s8[i]));
            ASSERT_TRUE(same_bits(alone.f32[i], together.f32[i]));
        }
    }
}

// By definition: 4 bits are the s8 product on the table that they stand for.
TEST_P(GruSets, FourBitsAreTheExpandedTable) {
    constexpr std::uint32_t kWidth = 33;
    const Values v(kWidth);
    const S4Table table(set().packing, 3 * kWidth, kWidth);
    const EdgeArray<std::int8_t> expanded = pack(set().packing, table.expanded, 3 * kWidth, kWidth);
    const S8Weights eight{expanded.data(), v.scales[0].data(), v.bias[0].data(), 3 * kWidth, kWidth};
    const S8Weights four{table.q.data(), v.scales[0].data(),  v.bias[0].data(), 3 * kWidth,
                         kWidth,         table.factors.data()};
    const S8Weights* const none = nullptr;
    EXPECT_TRUE(same_bits(states(set(), &four, none, kWidth, v.input, kAll, 4),
                          states(set(), &eight, none, kWidth, v.input, kAll, 4)));
}

// Where nothing comes in and n is 0, z * h would go on halving h until it is subnormal.
TEST_P(GruSets, WhatIsTooSmallBecomesZero) {
    constexpr std::uint32_t kLong = 9;
    Values v(1);
    v.width = 1;
    const std::vector<float> zeros(3, 0.0f);
    const EdgeArray<float> packed = pack(set().packing, zeros, 3, 1);
    const F32Weights weights{packed.data(), nullptr, 3, 1};
    std::vector<float> input(kRows * 3, 0.0f);
    input[1] = -60.0f;    // z of the first row: h is n
    input[2] = 0x1p-10f;  // a small n
    for (std::uint32_t row = 1; row < kLong; ++row)
        input[row * 3 + 1] = -6.9f;  // z is about 1 / 1000
    const TextRows text = whole_text(kLong);
    const F32Weights* const none = nullptr;
    const std::vector<float> found = states(set(), &weights, none, 1, input, {&text, 1}, 100);
    EXPECT_GT(found[0], 0.0f);
    EXPECT_GT(found[2], 0x1p-40f);
    EXPECT_TRUE(same_bits(found[kLong - 1], 0.0f));
}

}  // namespace
}  // namespace etch::testing
