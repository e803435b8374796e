// SPDX-License-Identifier: Apache-2.0
// A layer of the s8 recipe, pooling, the cosine of two vectors and MaxSim give the same bits with subnormals flushed to
// zero and kept.
#include "support.hpp"

#if defined(__x86_64__)

#include <immintrin.h>

#include <cfloat>

#include "etch/ops/attention.hpp"
#include "etch/ops/linear.hpp"
#include "etch/ops/pool.hpp"
#include "etch/ops/row_ops.hpp"
#include "etch/similarity.hpp"

namespace etch::testing {
namespace {

// Flush-to-zero and denormals-are-zero, while it lives.
class FlushToZero {
  public:
    FlushToZero() : before_(_mm_getcsr()) { _mm_setcsr(before_ | 0x8040u); }
    ~FlushToZero() { _mm_setcsr(before_); }
    FlushToZero(const FlushToZero&) = delete;
    FlushToZero& operator=(const FlushToZero&) = delete;

  private:
    unsigned before_;
};

// Unlike the runtime's it leaves the mode as it is: there are processors that always flush.
class BareRunner {
  public:
    explicit BareRunner(const OpContext& context) : context_(context) {}

    template <class Op>
    void operator()(const Op& op) const {
        op.run(context_, 0, op.units());
    }

  private:
    OpContext context_;
};

constexpr std::uint32_t kTokens = 9;
constexpr std::uint32_t kWidth = 40;

std::vector<float> layer(const KernelSet& set) {
    std::vector<float> x = Random().floats(kTokens * kWidth, 2.0f);
    for (std::uint32_t i = 0; i < kWidth; ++i) {
        x[kWidth + i] = 1e-41f * static_cast<float>(i);  // a row of subnormals
        x[2 * kWidth + i] *= 1e-38f;                     // around the least normal number
        if (i % 3 == 0) x[3 * kWidth + i] = -3e-42f;     // some in a row of normal values
        x[4 * kWidth + i] *= i == 7 ? 1.0f : 1e-39f;     // all but one
    }
    const EdgeArray<std::int8_t> packed = pack(set.packing, Random(1).s8s(kWidth * kWidth), kWidth, kWidth);
    std::vector<float> scales = Random(2).floats(kWidth, 0.001f, 0.002f);
    scales[5] = 0.0f;
    std::vector<float> bias = Random(3).floats(kWidth);
    bias[6] = bias[5] = 0.0f;
    const S8Weights weights{packed.data(), scales.data(), bias.data(), kWidth, kWidth};
    const std::vector<float> gamma = Random(4).floats(kWidth);
    const LayerNormWeights norm{gamma.data(), bias.data(), 1e-12f, static_cast<float>(1.0 / kWidth)};

    const HeadShape shape{set.packing, 2, kWidth / 2, 16, 4};
    EdgeArray<std::uint8_t> scratch(attention_s8_scratch_bytes(shape));
    EdgeArray<std::int8_t> keys(2 * s8_key_bytes(shape));
    EdgeArray<std::int8_t> values(2 * s8_value_bytes(shape));
    std::vector<float> key_scales(32);
    std::vector<float> value_scales(32);
    const S8HeadCache key_cache{keys.data(), key_scales.data()};
    const S8HeadCache value_cache{values.data(), value_scales.data()};

    const std::size_t stride = encoded_row_bytes(set.packing, kWidth);
    EdgeArray<std::uint8_t> q(kTokens * stride);
    std::vector<float> q_scales(kTokens);
    const QuantizedRows quantized{q.data(), q_scales.data(), stride};
    const F32Rows rows{x.data(), kWidth};
    std::vector<float> context(kTokens * kWidth);
    std::vector<float> out(kTokens * kWidth);
    const BareRunner run({set, scratch.data()});
    const TextRows whole = whole_text(kTokens);
    const Texts texts{&whole, 1};
    run(PackKeysS8{shape, {0, kTokens}, texts, rows, key_cache});
    run(PackValuesS8{shape, {0, kTokens}, texts, rows, value_cache});
    run(AttentionS8{shape, 0.3f, {0, kTokens}, texts, rows, key_cache, value_cache, {context.data(), kWidth}});
    run(Quantize{kTokens, {context.data(), kWidth}, quantized});
    run(LinearS8{weights, kTokens, quantized, rows, Activation::none, rows});
    run(LayerNorm{norm, kTokens, rows});
    for (const Activation activation : kAllActivations) {
        run(Quantize{kTokens, rows, quantized});
        run(LinearS8{weights, kTokens, quantized, rows, activation, rows});
    }
    run(Quantize{kTokens, rows, quantized});
    run(LinearS8{weights, kTokens, quantized, {out.data(), kWidth}});
    run(Softmax{kTokens, {out.data(), kWidth}, rows});
    out.insert(out.end(), x.begin(), x.end());
    return out;
}

class SubnormalsInS8 : public EachSet {};
INSTANTIATE_TEST_SUITE_P(Ops, SubnormalsInS8, ::testing::ValuesIn(usable_sets()), set_name);

TEST_P(SubnormalsInS8, NeverDecideABit) {
    const std::vector<float> kept = layer(set());
    std::vector<float> flushed;
    {
        const FlushToZero mode;
        volatile float least = FLT_MIN;
        ASSERT_EQ(least * 0.5f, 0.0f);  // the mode is on
        flushed = layer(set());
    }
    EXPECT_TRUE(same_bits(kept, layer(scalar(Packing::panel))));
    EXPECT_TRUE(same_bits(flushed, kept));
}

// Sums that are subnormal or cancel, values around the least normal number, rows that are tiny as a whole.
std::vector<float> pooled() {
    std::vector<float> x = Random().floats(kTokens * kWidth);
    for (std::uint32_t i = 0; i < kTokens * kWidth; ++i)
        x[i] *= i % kWidth < 10 ? 1e-38f : i % kWidth < 20 ? 1e-41f : i % kWidth < 30 ? 0x1p-40f : 1.0f;
    std::vector<float> rows;
    for (const Pooling kind :
         {Pooling::first, Pooling::mean, Pooling::max, Pooling::mean_sqrt, Pooling::last, Pooling::weighted_mean}) {
        std::vector<float> out(kWidth);
        BareRunner({scalar(Packing::panel), nullptr})(Pool{kind, kTokens, {x.data(), kWidth}, {out.data(), kWidth}});
        rows.insert(rows.end(), out.begin(), out.end());
    }
    const std::uint32_t count = static_cast<std::uint32_t>(rows.size()) / 10;
    const std::vector<float> before = rows;
    BareRunner({scalar(Packing::panel), nullptr})(Normalize{count, {rows.data(), 10}});
    for (std::uint32_t row = 0; row + 1 < count; ++row)
        rows.push_back(cosine_similarity(before.data() + row * 10, before.data() + row * 10 + 10, 10));
    rows.push_back(max_sim(before.data(), 2, before.data() + 20, count - 2, 10));
    rows.insert(rows.end(), before.begin(), before.end());
    return rows;
}

TEST(SubnormalsInPooling, NeverDecideABit) {
    const std::vector<float> kept = pooled();
    const FlushToZero mode;
    EXPECT_TRUE(same_bits(kept, pooled()));
}

}  // namespace
}  // namespace etch::testing

#endif
