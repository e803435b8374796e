// SPDX-License-Identifier: Apache-2.0
#include "etch/ops/row_ops.hpp"

#include <algorithm>
#include <cmath>

#include "etch/ops/clamped_gate.hpp"
#include "support.hpp"
#include "units.hpp"

namespace etch::testing {
namespace {

class RowOps : public EachSet {
  protected:
    template <class Op>
    void run_backwards(const Op& op) const {
        testing::run_backwards(op, {set(), nullptr});
    }
    template <class Op>
    void run(const Op& op) const {
        InlineRunner({set(), nullptr})(op);
    }
    // An op on two rows: into a third one, into the first, into the second.
    template <class Op, class Function>
    void also_in_place(Function function) const {
        constexpr std::uint32_t kRows = 3;
        constexpr std::uint32_t kWidth = 37;
        std::vector<float> a = Random(1).floats(kRows * kWidth, 2.0f);
        std::vector<float> b = Random(2).floats(kRows * kWidth, 2.0f);
        std::vector<float> want(a.size());
        for (std::size_t i = 0; i < want.size(); ++i)
            want[i] = function(a[i], b[i]);
        std::vector<float> out(a.size());
        run_backwards(Op{kRows, {a.data(), kWidth}, {b.data(), kWidth}, {out.data(), kWidth}});
        EXPECT_TRUE(same_bits(out, want));
        std::vector<float> first = a;
        run(Op{kRows, {first.data(), kWidth}, {b.data(), kWidth}, {first.data(), kWidth}});
        EXPECT_TRUE(same_bits(first, want));
        run(Op{kRows, {a.data(), kWidth}, {b.data(), kWidth}, {b.data(), kWidth}});
        EXPECT_TRUE(same_bits(b, want));
    }
};
INSTANTIATE_TEST_SUITE_P(Ops, RowOps, ::testing::ValuesIn(usable_sets()), set_name);

TEST_P(RowOps, QuantizeFillsRowsAndScales) {
    constexpr std::uint32_t kRows = 5;
    constexpr std::uint32_t kWidth = 37;
    std::vector<float> x = Random().floats(kRows * kWidth);
    EncodedRows want(set(), x, kRows, kWidth);
    const std::size_t stride = encoded_row_bytes(set().packing, kWidth);  // an arena's, at least what the set needs
    std::vector<std::uint8_t> bytes(kRows * stride, 0xA5);  // as in EncodedRows: a set need not write all of them
    std::vector<float> scales(kRows);
    run_backwards(Quantize{kRows, {x.data(), kWidth}, {bytes.data(), scales.data(), stride}});
    for (std::uint32_t row = 0; row < kRows; ++row) {
        EXPECT_EQ(scales[row], want.view().scales[row]);
        EXPECT_EQ(std::memcmp(bytes.data() + row * stride, want.view().from(row).data, want.view().stride_bytes), 0);
    }
}

TEST_P(RowOps, LayerNormIsInPlacePerRow) {
    constexpr std::uint32_t kRows = 4;
    constexpr std::uint32_t kWidth = 21;
    std::vector<float> x = Random().floats(kRows * kWidth);
    std::vector<float> want = x;
    const std::vector<float> gamma = Random(2).floats(kWidth);
    const std::vector<float> beta = Random(3).floats(kWidth);
    const LayerNormWeights weights{gamma.data(), beta.data(), 1e-12f, static_cast<float>(1.0 / kWidth)};
    for (std::uint32_t row = 0; row < kRows; ++row) {
        scalar(set().packing)
            .layer_norm_row(x.data() + row * kWidth, want.data() + row * kWidth, kWidth, gamma.data(), beta.data(),
                            1e-12f, weights.inverse_width);
    }
    run_backwards(LayerNorm{weights, kRows, {x.data(), kWidth}});
    EXPECT_TRUE(same_bits(x, want));
}

TEST_P(RowOps, NormsWriteWhereTheyAreToldTo) {
    constexpr std::uint32_t kRows = 4;
    constexpr std::uint32_t kWidth = 21;
    std::vector<float> x = Random().floats(kRows * kWidth);
    const std::vector<float> before = x;
    const std::vector<float> gamma = Random(2).floats(kWidth);
    const std::vector<float> beta = Random(3).floats(kWidth);
    const float inverse_width = static_cast<float>(1.0 / kWidth);
    const LayerNormWeights layer{gamma.data(), beta.data(), 1e-12f, inverse_width};
    const RmsNormWeights rms{gamma.data(), 1e-6f, inverse_width};
    std::vector<float> want(kRows * kWidth);
    std::vector<float> want_rms(kRows * kWidth);
    for (std::uint32_t at = 0; at < kRows * kWidth; at += kWidth) {
        const KernelSet& reference = scalar(set().packing);
        reference.layer_norm_row(&x[at], &want[at], kWidth, gamma.data(), beta.data(), 1e-12f, inverse_width);
        reference.rms_norm_row(&x[at], &want_rms[at], kWidth, gamma.data(), 1e-6f, inverse_width);
    }
    std::vector<float> out(kRows * kWidth);
    run_backwards(LayerNorm{layer, kRows, {x.data(), kWidth}, {out.data(), kWidth}});
    EXPECT_TRUE(same_bits(out, want));
    run_backwards(RmsNorm{rms, kRows, {x.data(), kWidth}, {out.data(), kWidth}});
    EXPECT_TRUE(same_bits(out, want_rms));
    EXPECT_TRUE(same_bits(x, before));
    run(RmsNorm{rms, kRows, {x.data(), kWidth}});
    EXPECT_TRUE(same_bits(x, want_rms));
    const F32Rows whole{out.data(), kRows * kWidth};
    out = before;
    run(RmsNorm{rms, kRows, whole.in_rows_of(kWidth)});
    EXPECT_TRUE(same_bits(out, want_rms));
}

TEST_P(RowOps, HeadsMayHaveWeightsOfTheirOwn) {
    constexpr std::uint32_t kRows = 3;
    constexpr std::uint32_t kHeads = 5;
    constexpr std::uint32_t kWidth = 7;
    std::vector<float> x = Random().floats(kRows * kHeads * kWidth);
    const std::vector<float> gamma = Random(2).floats(kHeads * kWidth);
    const std::vector<float> beta = Random(3).floats(kHeads * kWidth);
    const LayerNormWeights weights{gamma.data(), beta.data(), 1e-12f, static_cast<float>(1.0 / kWidth)};
    std::vector<float> want(x.size());
    for (std::uint32_t row = 0; row < kRows; ++row) {
        for (std::uint32_t head = 0; head < kHeads; ++head) {
            const std::uint32_t at = (row * kHeads + head) * kWidth;
            scalar(set().packing)
                .layer_norm_row(&x[at], &want[at], kWidth, &gamma[head * kWidth], &beta[head * kWidth], 1e-12f,
                                weights.inverse_width);
        }
    }
    const F32Rows heads = F32Rows{x.data(), kHeads * kWidth}.in_rows_of(kWidth);
    std::vector<float> out(x.size());
    run_backwards(LayerNorm{weights, kRows * kHeads, heads, {out.data(), kWidth}, kHeads});
    EXPECT_TRUE(same_bits(out, want));
    const RmsNormWeights rms{gamma.data(), 1e-6f, weights.inverse_width};
    std::vector<float> want_rms(x.size());
    for (std::uint32_t at = 0; at < x.size(); at += kWidth) {
        const float* const of_head = &gamma[at / kWidth % kHeads * kWidth];
        scalar(set().packing).rms_norm_row(&x[at], &want_rms[at], kWidth, of_head, 1e-6f, weights.inverse_width);
    }
    run_backwards(RmsNorm{rms, kRows * kHeads, heads, {out.data(), kWidth}, kHeads});
    EXPECT_TRUE(same_bits(out, want_rms));
    run(LayerNorm{weights, kRows * kHeads, heads, heads, kHeads});
    EXPECT_TRUE(same_bits(x, want));
}

// Products and sums of which a fused multiply-add would make others, and what would leave -2^32 and 2^32.
TEST_P(RowOps, AffineRoundsTwiceAndStaysWithinItsLimit) {
    constexpr std::uint32_t kRows = 3;
    constexpr std::uint32_t kWidth = 37;
    constexpr float kLimit = 0x1p32f;
    std::vector<float> x = Random(1).floats(kRows * kWidth, 3.0f);
    const std::vector<float> gamma = Random(2).floats(kWidth, 2.0f);
    const std::vector<float> beta = Random(3).floats(kWidth, 2.0f);
    for (const std::uint32_t i : {3u, 20u, 36u})
        x[kWidth + i] = (i == 20 ? -0x1p33f : 0x1p33f) / gamma[i];
    std::vector<float> want(x.size());
    for (std::size_t i = 0; i < want.size(); ++i) {
        const volatile float product = x[i] * gamma[i % kWidth];  // rounded, whatever the compiler
        const float sum = product + beta[i % kWidth];
        want[i] = std::fmin(std::fmax(sum, -kLimit), kLimit);
    }
    EXPECT_EQ(want[kWidth + 3], kLimit);
    EXPECT_EQ(want[kWidth + 20], -kLimit);
    const AffineWeights weights{gamma.data(), beta.data()};
    std::vector<float> out(x.size());
    run_backwards(Affine{weights, kRows, {x.data(), kWidth}, {out.data(), kWidth}});
    EXPECT_TRUE(same_bits(out, want));
    run(Affine{weights, kRows, {x.data(), kWidth}});
    EXPECT_TRUE(same_bits(x, want));
}

TEST_P(RowOps, MultiplyAlsoInPlace) {
    also_in_place<Multiply>([](float x, float y) { return x * y; });
}

TEST_P(RowOps, AddAlsoInPlace) {
    also_in_place<Add>([](float x, float y) { return x + y; });
}

// Pairs as complex numbers times e^(i angle): x0 + i x1 to (x0 cos - x1 sin) + i (x1 cos + x0 sin).
TEST_P(RowOps, RotaryTurnsThePairsOfAHeadByTheirPosition) {
    struct Shape {
        std::uint32_t heads;
        std::uint32_t head_width;
        std::uint32_t rotated;
    };
    constexpr std::uint32_t kCount = 9;
    constexpr TextRows kTexts[] = {{0, 2, 0, 2, 0}, {2, 4, 3, 7, 16}, {6, 3, 0, 3, 32}};
    constexpr std::uint32_t kPositions[kCount] = {0, 1, 3, 4, 5, 6, 0, 1, 2};
    const Texts texts{kTexts, 3};
    for (const Shape& shape : {Shape{1, 2, 2}, Shape{3, 8, 8}, Shape{2, 10, 6}, Shape{2, 64, 64}, Shape{1, 20, 18}}) {
        const std::uint32_t half = shape.rotated / 2;
        const std::uint32_t width = shape.heads * shape.head_width;
        std::vector<double> angles;
        std::vector<float> cosines;
        std::vector<float> sines;
        for (std::uint32_t position = 0; position < 7; ++position) {
            for (std::uint32_t i = 0; i < half; ++i) {
                angles.push_back(position * std::pow(10000.0, -2.0 * i / shape.rotated));
                cosines.push_back(static_cast<float>(std::cos(angles.back())));
                sines.push_back(static_cast<float>(std::sin(angles.back())));
            }
        }
        const RotaryTable table{cosines.data(), sines.data(), shape.rotated, shape.head_width};
        const std::vector<float> before = Random(width).floats(kCount * width, 3.0f);
        std::vector<float> x = before;
        for (const RowBlock block : RowBlocks(kCount, 4))
            run_backwards(Rotary{table, block, texts, F32Rows{x.data(), width}.from(block.first)});
        std::vector<float> want = before;
        for (std::uint32_t row = 0; row < kCount; ++row) {
            for (std::uint32_t head = 0; head < shape.heads; ++head) {
                for (std::uint32_t i = 0; i < half; ++i) {
                    const std::size_t at = row * width + head * shape.head_width + i;
                    const std::size_t entry = kPositions[row] * half + i;
                    volatile float x0_c = before[at] * cosines[entry];
                    volatile float x1_s = before[at + half] * sines[entry];
                    volatile float x1_c = before[at + half] * cosines[entry];
                    volatile float x0_s = before[at] * sines[entry];
                    want[at] = x0_c - x1_s;
                    want[at + half] = x1_c + x0_s;
                    const double x0 = before[at];
                    const double x1 = before[at + half];
                    ASSERT_NEAR(want[at], x0 * std::cos(angles[entry]) - x1 * std::sin(angles[entry]), 1e-6);
                    ASSERT_NEAR(want[at + half], x1 * std::cos(angles[entry]) + x0 * std::sin(angles[entry]), 1e-6);
                }
            }
        }
        ASSERT_TRUE(same_bits(x, want)) << shape.head_width;
        std::vector<float> at_once = before;
        run(Rotary{table, {0, kCount}, texts, {at_once.data(), width}});
        ASSERT_TRUE(same_bits(at_once, want)) << shape.head_width;
    }
}

TEST_P(RowOps, SoftmaxNearDoubleAndAsScalarAndInPlace) {
    for (const std::uint32_t width : {1u, 2u, 4u, 17u}) {
        std::vector<float> x = Random(width).floats(3 * width, 8.0f);
        std::vector<float> got(3 * width);
        run(Softmax{3, {x.data(), width}, {got.data(), width}});
        for (std::uint32_t row = 0; row < 3; ++row) {
            double sum = 0;
            for (std::uint32_t i = 0; i < width; ++i)
                sum += std::exp(static_cast<double>(x[row * width + i]));
            for (std::uint32_t i = 0; i < width; ++i) {
                EXPECT_NEAR(got[row * width + i], std::exp(static_cast<double>(x[row * width + i])) / sum, 1e-6);
            }
        }
        std::vector<float> want(3 * width);
        InlineRunner({scalar(set().packing), nullptr})(Softmax{3, {x.data(), width}, {want.data(), width}});
        EXPECT_TRUE(same_bits(got, want));
        run_backwards(Softmax{3, {x.data(), width}, {x.data(), width}});
        EXPECT_TRUE(same_bits(x, want));
    }
}

TEST_P(RowOps, SigmoidNearDoubleAndAsScalarAndInPlace) {
    for (const std::uint32_t width : {1u, 2u, 17u}) {
        std::vector<float> x = Random(width).floats(3 * width, 30.0f);
        std::vector<float> got(3 * width);
        run(Sigmoid{3, {x.data(), width}, {got.data(), width}});
        for (std::uint32_t i = 0; i < 3 * width; ++i)
            EXPECT_NEAR(got[i], 1.0 / (1.0 + std::exp(-static_cast<double>(x[i]))), 1e-6);
        std::vector<float> want(3 * width);
        InlineRunner({scalar(set().packing), nullptr})(Sigmoid{3, {x.data(), width}, {want.data(), width}});
        EXPECT_TRUE(same_bits(got, want));
        run_backwards(Sigmoid{3, {x.data(), width}, {x.data(), width}});
        EXPECT_TRUE(same_bits(x, want));
    }
}

TEST_P(RowOps, CapNearDoubleAndAsScalar) {
    constexpr SoftCap kCap{30.0f, 1.0f / 30.0f};
    for (const std::uint32_t width : {1u, 2u, 17u}) {
        const std::vector<float> x = Random(width).floats(3 * width, 90.0f);
        std::vector<float> got = x;
        run(Cap{3, {got.data(), width}, kCap});
        for (std::uint32_t i = 0; i < 3 * width; ++i)
            EXPECT_NEAR(got[i], 30.0 * std::tanh(static_cast<double>(x[i]) / 30.0), 1e-5);
        std::vector<float> want = x;
        InlineRunner({scalar(set().packing), nullptr})(Cap{3, {want.data(), width}, kCap});
        EXPECT_TRUE(same_bits(got, want));
        std::vector<float> backwards = x;
        run_backwards(Cap{3, {backwards.data(), width}, kCap});
        EXPECT_TRUE(same_bits(backwards, want));
    }
}

TEST_P(RowOps, XieluNearDoubleAndAsScalar) {
    constexpr XieluWeights kWeights{1.25f, 0.75f, -1e-6f, 0.5f};
    for (const std::uint32_t width : {1u, 2u, 62u, 63u, 64u, 130u}) {
        std::vector<float> x = Random(width).floats(3 * width, 30.0f);
        x[0] = 0.0f;
        x[1] = -5e-7f;
        x[2] = -200.0f;  // a power that is 0
        std::vector<float> got = x;
        run(Xielu{kWeights, 3, {got.data(), width}});
        for (std::uint32_t i = 0; i < 3 * width; ++i) {
            const double of = x[i];
            const double most = kWeights.most;
            const double below = (std::expm1(std::min(of, most)) - of) * 0.75 + of * 0.5;
            EXPECT_NEAR(got[i], of > 0 ? of * of * 1.25 + of * 0.5 : below, 1e-6 * (1.0 + of * of));
        }
        std::vector<float> want = x;
        InlineRunner({scalar(set().packing), nullptr})(Xielu{kWeights, 3, {want.data(), width}});
        EXPECT_TRUE(same_bits(got, want));
        std::vector<float> backwards = x;
        run_backwards(Xielu{kWeights, 3, {backwards.data(), width}});
        EXPECT_TRUE(same_bits(backwards, want));
    }
}

TEST_P(RowOps, ClampedGateNearDoubleAndAsScalarAlsoInPlace) {
    constexpr float kAlpha = 1.702f;
    constexpr float kLimit = 3.0f;
    for (const std::uint32_t width : {1u, 63u, 64u, 130u}) {
        std::vector<float> x = Random(width).floats(3 * width, 6.0f);
        std::vector<float> y = Random(width + 1).floats(3 * width, 6.0f);
        x[0] = -200.0f;
        std::vector<float> got(x.size());
        run(ClampedGate{3, {x.data(), width}, {y.data(), width}, {got.data(), width}, kAlpha, kLimit});
        for (std::uint32_t i = 0; i < 3 * width; ++i) {
            const double gate = std::min(x[i], kLimit);
            const double factor = std::min(std::max(y[i], -kLimit), kLimit);
            EXPECT_NEAR(got[i], (factor + 1) * gate / (1 + std::exp(-double{kAlpha} * gate)), 2e-5);
        }
        std::vector<float> want(x.size());
        InlineRunner({scalar(set().packing), nullptr})(
            ClampedGate{3, {x.data(), width}, {y.data(), width}, {want.data(), width}, kAlpha, kLimit});
        EXPECT_TRUE(same_bits(got, want));
        run_backwards(ClampedGate{3, {x.data(), width}, {y.data(), width}, {x.data(), width}, kAlpha, kLimit});
        EXPECT_TRUE(same_bits(x, want));
    }
}

TEST(FirstRows, ComeTogetherInTheOrderOfTheTexts) {
    constexpr TextRows kRows[] = {whole_text(1), whole_text(1, 1, 16), whole_text(4, 2, 32), whole_text(2, 6, 48)};
    const Texts texts{kRows, 4};
    const OpContext context{scalar(Packing::panel), nullptr};
    std::vector<float> x = {0, 1, 2, 3, 4, 5, 6, 7};
    const std::vector<float> before = x;
    FirstRows{texts, {x.data(), 1}}.run(context, 0, 0);  // a worker without a part
    EXPECT_EQ(x, before);
    FirstRows{texts, {x.data(), 1}}.run(context, 0, 1);
    EXPECT_EQ(x, (std::vector<float>{0, 1, 2, 6, 4, 5, 6, 7}));
}

TEST(SelectRows, AreInTheOrderOfTheirNumbers) {
    constexpr std::uint32_t kRows[] = {3, 0, 3, 1};
    const OpContext context{scalar(Packing::panel), nullptr};
    std::vector<float> x = {0, 1, 2, 3, 4, 5, 6, 7};
    std::vector<float> out(8, -1.0f);
    const SelectRows select{kRows, 4, {x.data(), 2}, {out.data(), 2}};
    ASSERT_EQ(select.units(), 4u);
    select.run(context, 2, 4);
    EXPECT_EQ(out, (std::vector<float>{-1, -1, -1, -1, 6, 7, 2, 3}));
    select.run(context, 0, 2);
    EXPECT_EQ(out, (std::vector<float>{6, 7, 0, 1, 6, 7, 2, 3}));
}

}  // namespace
}  // namespace etch::testing
