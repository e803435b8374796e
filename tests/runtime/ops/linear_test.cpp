// SPDX-License-Identifier: Apache-2.0
#include "etch/ops/linear.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "kernel_calls.hpp"
#include "support.hpp"

namespace etch::testing {
namespace {

constexpr std::uint32_t kRows = 9;
constexpr std::uint32_t kInputs = 37;
constexpr std::uint32_t kOutputs = 43;

class Linear : public EachSet {
  protected:
    OpContext context() const { return {set(), nullptr}; }  // linears need no scratch

    std::vector<float> x = Random().floats(kRows * kInputs);
    std::vector<std::int8_t> q = Random(kSeed + 1).s8s(kOutputs * kInputs);
    std::vector<float> w = Random(kSeed + 2).floats(kOutputs * kInputs);
    std::vector<float> scales = Random(kSeed + 3).floats(kOutputs, 0.001f, 0.01f);
    std::vector<float> bias = Random(kSeed + 4).floats(kOutputs);
    std::vector<float> residual = Random(kSeed + 5).floats(kRows * kOutputs);

    // Any split of the rows into blocks and of the units into ranges.
    std::vector<float> s8(std::uint32_t block, std::uint32_t units_at_once, bool with_residual = true) {
        EncodedRows a(set(), x, kRows, kInputs);
        const EdgeArray<std::int8_t> packed = pack(set().packing, q, kOutputs, kInputs);
        const S8Weights weights{packed.data(), scales.data(), bias.data(), kOutputs, kInputs};
        std::vector<float> out(kRows * kOutputs);
        const F32Rows out_rows{out.data(), kOutputs};
        const F32Rows residual_rows{residual.data(), kOutputs};
        for (const RowBlock rows : RowBlocks(kRows, block)) {
            const F32Rows block_residual = with_residual ? residual_rows.from(rows.first) : F32Rows{nullptr, 0};
            const LinearS8 op{weights,          rows.count,    a.view().from(rows.first), out_rows.from(rows.first),
                              Activation::gelu, block_residual};
            for (std::uint32_t unit = 0; unit < op.units(); unit += units_at_once) {
                op.run(context(), unit, std::min(unit + units_at_once, op.units()));
            }
        }
        return out;
    }

    std::vector<float> f32(std::uint32_t block, std::uint32_t units_at_once) {
        const EdgeArray<float> packed = pack(set().packing, w, kOutputs, kInputs);
        const F32Weights weights{packed.data(), bias.data(), kOutputs, kInputs};
        std::vector<float> out(kRows * kOutputs);
        const F32Rows out_rows{out.data(), kOutputs};
        const F32Rows x_rows{x.data(), kInputs};
        const F32Rows residual_rows{residual.data(), kOutputs};
        for (const RowBlock rows : RowBlocks(kRows, block)) {
            const LinearF32 op{weights,
                               rows.count,
                               x_rows.from(rows.first),
                               out_rows.from(rows.first),
                               Activation::relu,
                               residual_rows.from(rows.first)};
            for (std::uint32_t unit = 0; unit < op.units(); unit += units_at_once) {
                op.run(context(), unit, std::min(unit + units_at_once, op.units()));
            }
        }
        return out;
    }
};
INSTANTIATE_TEST_SUITE_P(Ops, Linear, ::testing::ValuesIn(usable_sets()), set_name);

TEST_P(Linear, IsTheKernelOnAllRows) {
    EncodedRows a(set(), x, kRows, kInputs);
    const EdgeArray<std::int8_t> packed = pack(set().packing, q, kOutputs, kInputs);
    std::vector<float> want(kRows * kOutputs);
    const MatmulS8 m{a.view(), packed.data(), scales.data(), bias.data(), residual.data(), want.data(),
                     kOutputs, kRows,         kInputs,       kOutputs,    Activation::gelu};
    set().matmul_s8(m, 0, 3);
    EXPECT_TRUE(same_bits(s8(kRows, 3), want));

    const EdgeArray<float> f32_packed = pack(set().packing, w, kOutputs, kInputs);
    const MatmulF32 f{x.data(), kInputs, f32_packed.data(), nullptr,  bias.data(),     residual.data(), want.data(),
                      kOutputs, kRows,   kInputs,           kOutputs, Activation::relu};
    set().matmul_f32(f, 0, 3);
    EXPECT_TRUE(same_bits(f32(kRows, 3), want));
}

TEST_P(Linear, BlocksAndUnitsDoNotChangeABit) {
    const std::vector<float> whole_s8 = s8(kRows, 3);
    const std::vector<float> whole_f32 = f32(kRows, 3);
    for (const std::uint32_t block : {1u, 2u, 4u, 5u, 100u}) {
        for (const std::uint32_t units : {1u, 2u}) {
            EXPECT_TRUE(same_bits(s8(block, units), whole_s8)) << block;
            EXPECT_TRUE(same_bits(f32(block, units), whole_f32)) << block;
        }
    }
}

// In units of rows, the last of them not full; residual and out are the same rows.
TEST_P(Linear, UnitsOfRowsDoNotChangeABit) {
    constexpr std::uint32_t kManyRows = 3 * LinearS8Rows::kUnitRows + 5;
    const std::vector<float> values = Random().floats(kManyRows * kInputs);
    const std::vector<float> added = Random(kSeed + 5).floats(kManyRows * kOutputs);
    EncodedRows a(set(), values, kManyRows, kInputs);
    const EdgeArray<std::int8_t> packed = pack(set().packing, q, kOutputs, kInputs);
    const S8Weights weights{packed.data(), scales.data(), bias.data(), kOutputs, kInputs};
    for (const bool with_residual : {true, false}) {
        std::vector<float> want = added;
        std::vector<float> got = added;
        const auto linear = [&](std::vector<float>& out) {
            const F32Rows rows{out.data(), kOutputs};
            return LinearS8{weights, kManyRows,        a.view(),
                            rows,    Activation::gelu, with_residual ? rows : F32Rows{nullptr, 0}};
        };
        const LinearS8 whole = linear(want);
        whole.run(context(), 0, whole.units());
        const LinearS8 cut = linear(got);
        const LinearS8Rows rows = cut.by_rows();
        EXPECT_EQ(rows.units(), 4u);
        rows.run(context(), 3, 4);
        rows.run(context(), 0, 1);
        rows.run(context(), 1, 3);
        EXPECT_TRUE(same_bits(got, want));
    }
}

TEST(LinearRows, ArePreferredWhereOutputsAreMoreBytesThanWeights) {
    const std::uint8_t factors[1] = {};
    const auto prefers = [](std::uint32_t inputs, std::uint32_t rows, std::uint32_t workers,
                            const std::uint8_t* of_4_bits = nullptr) {
        const S8Weights weights{nullptr, nullptr, nullptr, 100, inputs, of_4_bits};
        return LinearS8{weights, rows, {}, {}}.prefers_rows(workers);
    };
    EXPECT_TRUE(prefers(768, 221, 2));
    EXPECT_TRUE(prefers(883, 221, 2));
    EXPECT_FALSE(prefers(884, 221, 2));
    EXPECT_FALSE(prefers(3072, 221, 2));
    EXPECT_TRUE(prefers(384, 128, 2));
    EXPECT_FALSE(prefers(384, 127, 2));
    EXPECT_FALSE(prefers(384, 221, 4));
    EXPECT_FALSE(prefers(384, 221, 2, factors));
}

// By definition: 4 bits are the s8 product on the table that they stand for, whichever units run together.
TEST_P(Linear, FourBitsAreTheExpandedTable) {
    for (const auto& [outputs, inputs] : {std::pair{43u, 37u}, {1u, 5u}, {150u, 33u}, {16u, 64u}, {67u, 96u}}) {
        SCOPED_TRACE(std::to_string(outputs) + " x " + std::to_string(inputs));
        const S4Table table(set().packing, outputs, inputs);
        const EdgeArray<std::int8_t> expanded = pack(set().packing, table.expanded, outputs, inputs);
        const EdgeArray<float> scale(Random(kSeed + 3).floats(outputs, 0.001f, 0.01f));
        const EdgeArray<float> offset(Random(kSeed + 4).floats(outputs));
        const std::vector<float> values = Random().floats(kRows * inputs);
        EncodedRows a(set(), values, kRows, inputs);
        EdgeArray<float> added(Random(kSeed + 5).floats(kRows * outputs));
        const std::size_t scratch_bytes = expanded_bytes(set().packing, inputs);
        std::vector<std::uint8_t> scratch(scratch_bytes + 64);
        void* aligned = scratch.data();
        std::size_t space = scratch.size();
        std::align(64, scratch_bytes, aligned, space);
        const OpContext with_scratch{set(), static_cast<std::uint8_t*>(aligned)};
        for (const bool all : {true, false}) {
            const float* bias_or_none = all ? offset.data() : nullptr;
            const F32Rows residual_or_none{all ? added.data() : nullptr, outputs};
            const S8Weights eight{expanded.data(), scale.data(), bias_or_none, outputs, inputs};
            const S8Weights four{table.q.data(), scale.data(), bias_or_none, outputs, inputs, table.factors.data()};
            EdgeArray<float> want(kRows * outputs);
            const LinearS8 op{eight, kRows, a.view(), {want.data(), outputs}, Activation::gelu, residual_or_none};
            op.run(context(), 0, op.units());
            for (const std::uint32_t units : {1u, 2u, 3u, op.units()}) {
                EdgeArray<float> got(kRows * outputs);
                const LinearS8 same{four, kRows, a.view(), {got.data(), outputs}, Activation::gelu, residual_or_none};
                for (std::uint32_t unit = 0; unit < same.units(); unit += units) {
                    same.run(with_scratch, unit, std::min(unit + units, same.units()));
                }
                ASSERT_TRUE(same_bits(got, want)) << units;
            }
        }
    }
}

// They are a case of their own where a set has one, whoever shares the linear how.
TEST_P(Linear, SevenBitsAreMultipliedAsSuch) {
    EncodedRows a(set(), x, kRows, kInputs);
    const EdgeArray<std::int8_t> packed =
        pack(set().packing, Random(kSeed + 1).s7s(kOutputs * kInputs), kOutputs, kInputs);
    const S8Weights eight{packed.data(), scales.data(), bias.data(), kOutputs, kInputs};
    S8Weights seven = eight;
    seven.of_7_bits = true;
    std::vector<float> want(kRows * kOutputs);
    const LinearS8 plain{eight, kRows, a.view(), {want.data(), kOutputs}};
    plain.run(context(), 0, plain.units());
    const CountedFunction function = set().matmul_s7 != nullptr ? kCountMatmulS7 : kCountMatmulS8;
    const auto expect_same = [&](const auto& op, const std::vector<float>& got) {
        reset_kernel_calls();
        op.run(context(), 0, op.units());
        EXPECT_TRUE(same_bits(got, want));
        EXPECT_EQ(kernel_calls[counted(set(), function)][function], 1u);
    };
    std::vector<float> got(kRows * kOutputs);
    const LinearS8 linear{seven, kRows, a.view(), {got.data(), kOutputs}};
    expect_same(linear, got);
    std::vector<float> by_rows(kRows * kOutputs);
    const LinearS8 cut{seven, kRows, a.view(), {by_rows.data(), kOutputs}};
    expect_same(cut.by_rows(), by_rows);
    EXPECT_TRUE(outputs_of(seven, set().packing, 16, 16).of_7_bits);
    EXPECT_FALSE(outputs_of(eight, set().packing, 16, 16).of_7_bits);
}

TEST_P(Linear, ANullResidualIsNone) {
    const std::vector<float> with = s8(kRows, 3, true);
    const std::vector<float> without = s8(kRows, 3, false);
    for (std::size_t i = 0; i < with.size(); ++i) {
        volatile float sum = without[i] + residual[i];
        ASSERT_TRUE(same_bits(with[i], sum));
    }
}

TEST_P(Linear, AFewOutputsAreTheColumnsOfAll) {
    EncodedRows a(set(), x, kRows, kInputs);
    const EdgeArray<std::int8_t> packed = pack(set().packing, q, kOutputs, kInputs);
    const EdgeArray<float> f32_packed = pack(set().packing, w, kOutputs, kInputs);
    const S8Weights s8_weights{packed.data(), scales.data(), bias.data(), kOutputs, kInputs};
    const F32Weights f32_weights{f32_packed.data(), bias.data(), kOutputs, kInputs};
    const auto run = [&](const auto& op) { op.run(context(), 0, op.units()); };
    std::vector<float> s8_all(kRows * kOutputs);
    std::vector<float> f32_all(kRows * kOutputs);
    run(LinearS8{s8_weights, kRows, a.view(), {s8_all.data(), kOutputs}});
    run(LinearF32{f32_weights, kRows, {x.data(), kInputs}, {f32_all.data(), kOutputs}});
    for (const auto& [first, count] : {std::pair{0U, 16U}, std::pair{16U, 16U}, std::pair{16U, 27U}}) {
        std::vector<float> s8_part(kRows * count);
        std::vector<float> f32_part(kRows * count);
        const S8Weights s8_few = outputs_of(s8_weights, set().packing, first, count);
        const F32Weights f32_few = outputs_of(f32_weights, set().packing, first, count);
        run(LinearS8{s8_few, kRows, a.view(), {s8_part.data(), count}});
        run(LinearF32{f32_few, kRows, {x.data(), kInputs}, {f32_part.data(), count}});
        for (std::uint32_t row = 0; row < kRows; ++row) {
            for (std::uint32_t i = 0; i < count; ++i) {
                EXPECT_EQ(s8_part[row * count + i], s8_all[row * kOutputs + first + i]);
                EXPECT_EQ(f32_part[row * count + i], f32_all[row * kOutputs + first + i]);
            }
        }
    }
}

// In 4 bits, where the factors are cut, too.
TEST_P(Linear, AFewOutputsOfFourBitsAreTheColumnsOfAll) {
    const S4Table table(set().packing, kOutputs, kInputs);
    EncodedRows a(set(), x, kRows, kInputs);
    alignas(64) std::uint8_t scratch[4096];
    ASSERT_LE(expanded_bytes(set().packing, kInputs), sizeof scratch);
    const OpContext with_scratch{set(), scratch};
    const auto run = [&](const LinearS8& op) { op.run(with_scratch, 0, op.units()); };
    const S8Weights weights{table.q.data(), scales.data(), bias.data(), kOutputs, kInputs, table.factors.data()};
    std::vector<float> all(kRows * kOutputs);
    run({weights, kRows, a.view(), {all.data(), kOutputs}});
    for (const auto& [first, count] : {std::pair{0U, 16U}, std::pair{16U, 16U}, std::pair{32U, 11U}}) {
        std::vector<float> part(kRows * count);
        run({outputs_of(weights, set().packing, first, count), kRows, a.view(), {part.data(), count}});
        for (std::uint32_t row = 0; row < kRows; ++row)
            for (std::uint32_t i = 0; i < count; ++i)
                EXPECT_EQ(part[row * count + i], all[row * kOutputs + first + i]);
    }
}

}  // namespace
}  // namespace etch::testing
