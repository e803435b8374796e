// SPDX-License-Identifier: Apache-2.0
// Experts against a sum over rows in doubles, and every set and cut against the scalar set in one piece.
#include "etch/ops/experts.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "etch/ops/row_ops.hpp"
#include "support.hpp"

namespace etch::testing {
namespace {

constexpr std::uint32_t kExperts = 5;
constexpr std::uint32_t kTop = 2;
constexpr std::uint32_t kRows = 11;
constexpr std::uint32_t kChosen = kTop * kRows;
constexpr std::uint32_t kInputs = 37;
constexpr std::uint32_t kOutputs = 43;

// What ChooseExperts makes of scores, each array ending where its share does.
struct Chosen {
    Chosen(const KernelSet& set, std::vector<float> scores, std::uint32_t experts, std::uint32_t top,
           ExpertWeighing weighing, ExpertBias bias = {}, ExpertShares shares = {})
        : rows(static_cast<std::uint32_t>(scores.size()) / experts),
          bytes(routes_bytes(experts, std::size_t{rows} * top), 0x5A),
          routes(routes_at(bytes.data(), experts, std::size_t{rows} * top)) {
        EdgeArray<std::uint8_t> scratch(choose_experts_scratch_bytes(experts), 0x5A);
        const ChooseExperts op{rows, top, weighing, {scores.data(), experts}, routes, bias, shares};
        EXPECT_EQ(op.units(), 1u);
        op.run({set, scratch.data()}, 0, 0);  // nothing
        op.run({set, scratch.data()}, 0, 1);
    }

    std::vector<std::uint32_t> rows_of(std::uint32_t expert) const {
        return {routes.rows + routes.first[expert], routes.rows + routes.first[expert + 1]};
    }

    std::uint32_t rows;
    EdgeArray<std::uint8_t> bytes;
    Routes routes;
};

using Numbers = std::vector<std::uint32_t>;

TEST(ChooseExperts, TakesTheLargestAndOfEqualOnesTheLower) {
    const std::vector<float> scores = {1.0f,  3.0f, 3.0f,  -1.0f,  // 1, 2
                                       0.0f,  0.0f, -0.0f, 0.0f,   // 0, 1: zeros are equal
                                       -5.0f, 2.0f, -4.0f, 9.0f};  // 3, 1
    const Chosen chosen(scalar(Packing::panel), scores, 4, 2, ExpertWeighing::all);
    EXPECT_EQ(Numbers(chosen.routes.first, chosen.routes.first + 5), (Numbers{0, 1, 4, 5, 6}));
    EXPECT_EQ(chosen.rows_of(0), Numbers{1});
    EXPECT_EQ(chosen.rows_of(1), (Numbers{0, 1, 2}));
    EXPECT_EQ(chosen.rows_of(2), Numbers{0});
    EXPECT_EQ(chosen.rows_of(3), Numbers{2});
    EXPECT_EQ(Numbers(chosen.routes.places, chosen.routes.places + 6), (Numbers{1, 4, 0, 2, 3, 5}));
}

TEST(ChooseExperts, TakesAllWhereAllAreAskedFor) {
    const Chosen chosen(scalar(Packing::panel), {2.0f, 2.0f, 1.0f}, 3, 3, ExpertWeighing::chosen);
    EXPECT_EQ(Numbers(chosen.routes.first, chosen.routes.first + 4), (Numbers{0, 1, 2, 3}));
    EXPECT_EQ(Numbers(chosen.routes.places, chosen.routes.places + 3), (Numbers{0, 1, 2}));
}

// Weights of these scores are 0.5, 0.9, 0.5 and 0.1: where biases make two equal, the lower comes first.
TEST(ChooseExperts, ChoosesByABiasThatCountsInNothingElse) {
    const float ninth = 2.1972246f;  // of which the sigmoid is 0.9
    const float bias[] = {0.0f, -1.0f, 0.0f, 2.0f};
    const Chosen chosen(scalar(Packing::panel), {0.0f, ninth, 0.0f, -ninth}, 4, 2, ExpertWeighing::each, {bias});
    EXPECT_EQ(Numbers(chosen.routes.first, chosen.routes.first + 5), (Numbers{0, 1, 1, 1, 2}));
    EXPECT_NEAR(chosen.routes.weights[0], 0.5f, 1e-6f);
    EXPECT_NEAR(chosen.routes.weights[1], 0.1f, 1e-6f);
}

TEST(ChooseExperts, DividesByTheLargerOfTheSumAndTheLeast) {
    const float none[] = {0.0f, 0.0f, 0.0f};
    const auto weights = [&](ExpertShares shares) {
        const Chosen chosen(scalar(Packing::panel), {0.0f, 0.0f, -9.0f}, 3, 2, ExpertWeighing::each, {none}, shares);
        return std::vector<float>(chosen.routes.weights, chosen.routes.weights + 2);
    };
    EXPECT_EQ(weights({0.0f, 0.0f}), (std::vector<float>{0.5f, 0.5f}));
    EXPECT_EQ(weights({1.0f, 0.0f}), (std::vector<float>{0.25f, 0.25f}));
    EXPECT_EQ(weights({0.0f, 4.0f}), (std::vector<float>{0.125f, 0.125f}));
    EXPECT_EQ(weights({1e-20f, 0.0f}), (std::vector<float>{0.5f, 0.5f}));
}

class ExpertSets : public EachSet {
  protected:
    Chosen chosen(const KernelSet& of, ExpertWeighing weighing) const { return {of, scores, kExperts, kTop, weighing}; }
    Chosen chosen() const { return chosen(set(), ExpertWeighing::all); }

    // Packed, each expert's outputs up to a panel.
    template <class Value>
    std::vector<Value> padded(const std::vector<Value>& values, std::uint32_t width) const {
        std::vector<Value> found(std::size_t{kExperts} * kStride * width);
        for (std::uint32_t expert = 0; expert < kExperts; ++expert)
            std::copy_n(values.begin() + expert * kOutputs * width, kOutputs * width,
                        found.begin() + expert * kStride * width);
        return found;
    }

    template <class Op>
    std::vector<float> run(const Op& op, std::vector<float>& out, std::uint32_t at_once) const {
        EdgeArray<std::uint8_t> scratch(round_up(expanded_bytes(set().packing, kInputs), 64), 0x5A);
        for (std::uint32_t unit = (op.units() - 1) / at_once * at_once + at_once; unit >= at_once; unit -= at_once)
            op.run({set(), scratch.data()}, unit - at_once, std::min(unit, op.units()));
        return out;
    }

    static constexpr std::uint32_t kStride = expert_outputs(kOutputs);

    std::vector<float> scores = Random().floats(kRows * kExperts, 3.0f);
    std::vector<float> x = Random(kSeed + 1).floats(kChosen * kInputs);
    std::vector<std::int8_t> q = padded(Random(kSeed + 2).s8s(kExperts * kOutputs * kInputs), kInputs);
    std::vector<float> w = padded(Random(kSeed + 3).floats(kExperts * kOutputs * kInputs), kInputs);
    std::vector<float> scales = padded(Random(kSeed + 4).floats(kExperts * kOutputs, 0.001f, 0.01f), 1);
    std::vector<float> bias = padded(Random(kSeed + 5).floats(kExperts * kOutputs), 1);
};
INSTANTIATE_TEST_SUITE_P(Ops, ExpertSets, ::testing::ValuesIn(usable_sets()), set_name);

TEST_P(ExpertSets, ChooseAndWeighAsTheScalarSet) {
    for (const ExpertWeighing weighing : {ExpertWeighing::all, ExpertWeighing::chosen, ExpertWeighing::each}) {
        const Chosen found = chosen(set(), weighing);
        const Chosen want = chosen(scalar(set().packing), weighing);
        EXPECT_TRUE(same_bits(found.bytes, want.bytes));
        for (std::uint32_t row = 0; row < kRows; ++row) {
            double taken = 0;
            double all = 0;
            double each = 0;
            for (std::uint32_t expert = 0; expert < kExperts; ++expert) {
                const Numbers rows = found.rows_of(expert);
                const double e = std::exp(static_cast<double>(scores[row * kExperts + expert]));
                all += e;
                const bool is_taken = std::count(rows.begin(), rows.end(), row) == 1;
                taken += is_taken ? e : 0.0;
                each += is_taken ? e / (1 + e) : 0.0;
            }
            const float* const weights = found.routes.weights + row * kTop;
            const double sum = static_cast<double>(weights[0]) + static_cast<double>(weights[1]);
            const double wanted[] = {taken / all, 1.0, each};
            EXPECT_NEAR(sum, wanted[static_cast<int>(weighing)], 1e-6) << row;
        }
    }
}

// The same chosen by a bias that is as large as they are, in both ways that allow one.
TEST_P(ExpertSets, ABiasChoosesAsInDoubles) {
    const std::vector<float> bias = Random(kSeed + 6).floats(kExperts, -1.0f, 1.0f);
    for (const ExpertWeighing weighing : {ExpertWeighing::all, ExpertWeighing::each}) {
        const ExpertShares shares{0.25f, 0.5f};
        const Chosen found(set(), scores, kExperts, kTop, weighing, {bias.data()}, shares);
        const Chosen want(scalar(set().packing), scores, kExperts, kTop, weighing, {bias.data()}, shares);
        EXPECT_TRUE(same_bits(found.bytes, want.bytes));
        for (std::uint32_t row = 0; row < kRows; ++row) {
            std::vector<double> weights(kExperts);
            double all = 0;
            for (std::uint32_t expert = 0; expert < kExperts; ++expert) {
                const double e = std::exp(static_cast<double>(scores[row * kExperts + expert]));
                weights[expert] = weighing == ExpertWeighing::all ? e : e / (1 + e);
                all += e;
            }
            for (double& weight : weights)
                weight /= weighing == ExpertWeighing::all ? all : 1.0;
            Numbers order(kExperts);
            std::iota(order.begin(), order.end(), 0u);
            std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
                return weights[a] + static_cast<double>(bias[a]) > weights[b] + static_cast<double>(bias[b]);
            });
            std::sort(order.begin(), order.begin() + kTop);
            const double sum = weights[order[0]] + weights[order[1]] + 0.25;
            for (std::uint32_t i = 0; i < kTop; ++i) {
                const Numbers rows = found.rows_of(order[i]);
                EXPECT_EQ(std::count(rows.begin(), rows.end(), row), 1) << row;
                const float weight = found.routes.weights[row * kTop + i];
                EXPECT_NEAR(static_cast<double>(weight), weights[order[i]] / std::max(sum, 0.5), 1e-6) << row;
            }
        }
    }
}

// Each expert's rows by a linear of its own.
TEST_P(ExpertSets, AnExpertsRowsAreThoseOfItsLinear) {
    const Chosen of = chosen();
    EncodedRows a(set(), x, kChosen, kInputs);
    const EdgeArray<std::int8_t> bytes = pack(set().packing, q, kExperts * kStride, kInputs);
    const EdgeArray<float> floats = pack(set().packing, w, kExperts * kStride, kInputs);
    const S8Weights s8{bytes.data(), scales.data(), bias.data(), kExperts * kStride, kInputs};
    const F32Weights f32{floats.data(), nullptr, kExperts * kStride, kInputs};
    std::vector<float> want_s8(kChosen * kOutputs);
    std::vector<float> want_f32(kChosen * kOutputs);
    for (std::uint32_t expert = 0; expert < kExperts; ++expert) {
        const std::uint32_t row = of.routes.first[expert];
        const std::uint32_t count = of.routes.first[expert + 1] - row;
        const std::uint32_t first = expert * kStride;
        const std::vector<std::int8_t> own_q(q.begin() + first * kInputs, q.begin() + (first + kOutputs) * kInputs);
        const std::vector<float> own_w(w.begin() + first * kInputs, w.begin() + (first + kOutputs) * kInputs);
        const EdgeArray<std::int8_t> own_bytes = pack(set().packing, own_q, kOutputs, kInputs);
        const EdgeArray<float> own_floats = pack(set().packing, own_w, kOutputs, kInputs);
        const S8Weights own_s8{own_bytes.data(), &scales[first], &bias[first], kOutputs, kInputs};
        const F32Weights own_f32{own_floats.data(), nullptr, kOutputs, kInputs};
        const LinearS8 one{own_s8, count, a.view().from(row), {&want_s8[row * kOutputs], kOutputs}, Activation::gelu};
        const LinearF32 other{own_f32, count, {&x[row * kInputs], kInputs}, {&want_f32[row * kOutputs], kOutputs}};
        if (count > 0) one.run({set(), nullptr}, 0, one.units());
        if (count > 0) other.run({set(), nullptr}, 0, other.units());
    }
    for (const std::uint32_t at_once : {1u, 2u, 100u}) {
        std::vector<float> out(kChosen * kOutputs, NAN);
        const F32Rows rows{out.data(), kOutputs};
        const ExpertLinearS8 in_bytes{s8, of.routes, kChosen, a.view(), rows, Activation::gelu};
        EXPECT_TRUE(same_bits(run(in_bytes, out, at_once), want_s8)) << at_once;
        std::fill(out.begin(), out.end(), NAN);
        const ExpertLinearF32 in_floats{f32, of.routes, kChosen, {x.data(), kInputs}, rows};
        EXPECT_TRUE(same_bits(run(in_floats, out, at_once), want_f32)) << at_once;
    }
}

// By definition: 4 bits are the s8 product on the table that they stand for.
TEST_P(ExpertSets, FourBitsAreTheExpandedTable) {
    const Chosen of = chosen();
    EncodedRows a(set(), x, kChosen, kInputs);
    const S4Table table(set().packing, kExperts * kStride, kInputs);
    const EdgeArray<std::int8_t> expanded = pack(set().packing, table.expanded, kExperts * kStride, kInputs);
    const S8Weights eight{expanded.data(), scales.data(), bias.data(), kExperts * kStride, kInputs};
    const S8Weights four{table.q.data(), scales.data(), bias.data(), kExperts * kStride, kInputs, table.factors.data()};
    std::vector<float> got(kChosen * kOutputs, NAN);
    std::vector<float> want(kChosen * kOutputs, NAN);
    const ExpertLinearS8 of_four{four, of.routes, kChosen, a.view(), {got.data(), kOutputs}};
    const ExpertLinearS8 of_eight{eight, of.routes, kChosen, a.view(), {want.data(), kOutputs}};
    EXPECT_TRUE(same_bits(run(of_four, got, 1), run(of_eight, want, 100)));
}

// All rows are its own, and no panel is filled behind them.
TEST_P(ExpertSets, OneExpertIsALinear) {
    const Chosen of(set(), std::vector<float>(kRows, 0.0f), 1, 1, ExpertWeighing::each);
    EncodedRows a(set(), x, kRows, kInputs);
    const std::vector<std::int8_t> own(q.begin(), q.begin() + kOutputs * kInputs);
    const EdgeArray<std::int8_t> bytes = pack(set().packing, own, kOutputs, kInputs);
    const S8Weights weights{bytes.data(), scales.data(), bias.data(), kOutputs, kInputs};
    std::vector<float> got(kRows * kOutputs, NAN);
    std::vector<float> want(kRows * kOutputs, NAN);
    const LinearS8 linear{weights, kRows, a.view(), {want.data(), kOutputs}};
    linear.run({set(), nullptr}, 0, linear.units());
    const ExpertLinearS8 expert{weights, of.routes, kRows, a.view(), {got.data(), kOutputs}};
    EXPECT_TRUE(same_bits(run(expert, got, 1), want));
}

TEST_P(ExpertSets, RowsAreSelectedAndMixedInTheOrderOfTheirExperts) {
    const Chosen of = chosen();
    std::vector<float> input = Random(kSeed + 6).floats(kRows * kOutputs);
    std::vector<float> selected(kChosen * kOutputs, NAN);
    const SelectRows select{of.routes.rows, kChosen, {input.data(), kOutputs}, {selected.data(), kOutputs}};
    run(select, selected, 3);
    std::vector<float> out(kRows * kOutputs, NAN);
    const MixExperts mix{kRows, kTop, of.routes, {selected.data(), kOutputs}, {out.data(), kOutputs}};
    run(mix, out, 2);
    for (std::uint32_t row = 0; row < kRows; ++row) {
        const float* const weights = of.routes.weights + row * kTop;
        for (std::uint32_t i = 0; i < kOutputs; ++i) {
            const float x_i = input[row * kOutputs + i];
            const float first = 0.0f + weights[0] * x_i;
            ASSERT_TRUE(same_bits(out[row * kOutputs + i], first + weights[1] * x_i)) << row;
        }
    }
}

}  // namespace
}  // namespace etch::testing
