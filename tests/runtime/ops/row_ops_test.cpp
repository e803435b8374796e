// SPDX-License-Identifier: Apache-2.0
#include "etch/ops/row_ops.hpp"

#include <cmath>

#include "etch/ops/embedding.hpp"
#include "support.hpp"

namespace etch::testing {
namespace {

class RowOps : public EachSet {
  protected:
    // Runs the units of an op one after the other, in descending order.
    template <class Op>
    void run_backwards(const Op& op) const {
        for (std::uint32_t unit = op.units(); unit-- > 0;)
            op.run({set(), nullptr}, unit, unit + 1);
    }
    template <class Op>
    void run(const Op& op) const {
        InlineRunner({set(), nullptr})(op);
    }
};
INSTANTIATE_TEST_SUITE_P(Ops, RowOps, ::testing::ValuesIn(usable_sets()), set_name);

TEST_P(RowOps, QuantizeFillsRowsAndScales) {
    constexpr std::uint32_t kRows = 5;
    constexpr std::uint32_t kWidth = 37;
    std::vector<float> x = Random().floats(kRows * kWidth);
    EncodedRows want(set(), x, kRows, kWidth);
    const std::size_t stride = encoded_row_bytes(set().packing, kWidth);  // an arena's, at least what the set needs
    std::vector<std::uint8_t> bytes(kRows * stride);
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
            .layer_norm_row(want.data() + row * kWidth, kWidth, gamma.data(), beta.data(), 1e-12f,
                            weights.inverse_width);
    }
    run_backwards(LayerNorm{weights, kRows, {x.data(), kWidth}});
    EXPECT_TRUE(same_bits(x, want));
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

TEST_P(RowOps, EmbeddingAddsWordSegmentPositionInThatOrder) {
    constexpr std::uint32_t kWidth = 10;
    constexpr std::uint32_t kCount = 6;
    constexpr TextRows kRows[] = {{0, 1, 0}, {1, 3, 16}, {4, 2, 32}};
    const Texts texts{kRows, 3};
    constexpr std::uint32_t kPositions[kCount] = {0, 0, 1, 2, 0, 1};
    const std::int32_t ids[kCount] = {3, 0, 19, 3, 7, 1};
    const std::uint8_t segments[kCount] = {0, 0, 0, 1, 1, 1};
    const std::vector<std::int8_t> word = Random(1).s8s(20 * kWidth);
    const std::vector<std::int8_t> segment = Random(2).s8s(2 * kWidth);
    const std::vector<std::int8_t> position = Random(3).s8s(8 * kWidth);
    const std::vector<float> word_scales = Random(4).floats(20, 0.01f, 0.02f);
    const std::vector<float> segment_scales = Random(5).floats(2, 0.01f, 0.02f);
    const std::vector<float> position_scales = Random(6).floats(8, 0.01f, 0.02f);
    std::vector<float> out(kCount * kWidth);
    run_backwards(EmbeddingSum<S8Embedding>{{word.data(), word_scales.data()},
                                            {segment.data(), segment_scales.data()},
                                            {position.data(), position_scales.data()},
                                            texts,
                                            ids,
                                            segments,
                                            {out.data(), kWidth}});
    std::vector<float> f32_word(20 * kWidth);
    std::vector<float> f32_segment(2 * kWidth);
    std::vector<float> f32_position(8 * kWidth);
    const auto expand = [](const std::vector<std::int8_t>& q, const std::vector<float>& scales,
                           std::vector<float>& to) {
        for (std::size_t i = 0; i < q.size(); ++i)
            to[i] = static_cast<float>(q[i]) * scales[i / kWidth];
    };
    expand(word, word_scales, f32_word);
    expand(segment, segment_scales, f32_segment);
    expand(position, position_scales, f32_position);
    for (std::uint32_t row = 0; row < kCount; ++row) {
        for (std::uint32_t i = 0; i < kWidth; ++i) {
            volatile float sum =
                f32_word[static_cast<std::uint32_t>(ids[row]) * kWidth + i] + f32_segment[segments[row] * kWidth + i];
            const float want = sum + f32_position[kPositions[row] * kWidth + i];
            ASSERT_TRUE(same_bits(out[row * kWidth + i], want)) << row << " " << i;
        }
    }
    std::vector<float> f32_out(kCount * kWidth);
    run(EmbeddingSum<F32Embedding>{{f32_word.data()},
                                   {f32_segment.data()},
                                   {f32_position.data()},
                                   texts,
                                   ids,
                                   segments,
                                   {f32_out.data(), kWidth}});
    EXPECT_TRUE(same_bits(f32_out, out));
}

TEST(FirstRows, ComeTogetherInTheOrderOfTheTexts) {
    constexpr TextRows kRows[] = {{0, 1, 0}, {1, 1, 16}, {2, 4, 32}, {6, 2, 48}};
    const Texts texts{kRows, 4};
    const OpContext context{scalar(Packing::panel), nullptr};
    std::vector<float> x = {0, 1, 2, 3, 4, 5, 6, 7};
    const std::vector<float> before = x;
    FirstRows{texts, {x.data(), 1}}.run(context, 0, 0);  // a worker without a part
    EXPECT_EQ(x, before);
    FirstRows{texts, {x.data(), 1}}.run(context, 0, 1);
    EXPECT_EQ(x, (std::vector<float>{0, 1, 2, 6, 4, 5, 6, 7}));
}

}  // namespace
}  // namespace etch::testing
