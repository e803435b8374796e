// SPDX-License-Identifier: Apache-2.0
// The split into heads and the exact attention, bit for bit against the CPU's ops with the scalar kernels.
#include "etch/ops/attention.hpp"

#include <cmath>

#include "device_array.hpp"
#include "etch/cuda/ops.hpp"

namespace etch::testing {
namespace {

struct Case {
    std::uint32_t heads;
    std::uint32_t head_width;
    std::vector<std::uint32_t> lengths;
};

const Case kCases[] = {{1, 1, {1}},         {2, 5, {1, 3, 2}},    {2, 8, {33}},          {3, 16, {16, 17, 31}},
                       {1, 24, {40, 1}},    {2, 32, {129}},       {1, 33, {15, 64, 47}}, {3, 64, {221}},
                       {1, 64, {5, 90, 1}}, {2, 64, {300}},       {1, 128, {20, 100}},   {3, 32, {31, 2}},
                       {1, 64, {64, 33}},   {2, 128, {1, 47, 48}}};

class ExactAttention : public KernelTest {
  protected:
    struct Projections {
        Projections(const Case& of, std::uint32_t columns_behind)
            : batch(of.lengths), width(of.heads * of.head_width), stride(3 * width + columns_behind) {
            Random random(5);
            for (std::size_t i = 0; i < std::size_t{batch.rows} * stride; ++i)
                sums.push_back(static_cast<std::int32_t>(random.bits() % 200001u) - 100000);
            row_scales = random.floats(batch.rows, 1e-3f, 2e-3f);
            column_scales = random.floats(std::size_t{3} * width, 1e-3f, 1e-2f);
            bias = random.floats(std::size_t{3} * width, 0.5f);
            column_scales[0] = 0.0f;
        }
        // Part 0: queries, 1: keys, 2: values.
        std::vector<float> part(std::uint32_t index) const {
            std::vector<float> rows;
            for (std::uint32_t row = 0; row < batch.rows; ++row) {
                for (std::uint32_t i = index * width; i < (index + 1) * width; ++i) {
                    const float sum = static_cast<float>(sums[std::size_t{row} * stride + i]);
                    rows.push_back((sum * row_scales[row]) * column_scales[i] + bias[i]);
                }
            }
            return rows;
        }

        Batch batch;
        std::uint32_t width;
        std::uint32_t stride;
        std::vector<std::int32_t> sums;
        std::vector<float> row_scales, column_scales, bias;
    };

    static float score_scale(const Case& of) {
        return static_cast<float>(std::log2(std::exp(1.0)) / std::sqrt(1.0 * of.head_width));
    }

    static std::vector<float> on_host(const Case& of, const Projections& in) {
        const KernelSet& kernels = scalar(Packing::panel);
        const HeadShape shape{Packing::panel, of.heads, of.head_width, in.batch.places, 16};
        const Texts texts = in.batch.host_texts();
        const RowBlock all{0, in.batch.rows};
        std::vector<float> query = in.part(0), key = in.part(1), value = in.part(2);
        std::vector<std::uint8_t> scratch(attention_s8_scratch_bytes(shape) + pack_s8_scratch_bytes(shape));
        EdgeArray<std::int8_t> packed_keys(of.heads * s8_key_bytes(shape));
        EdgeArray<std::int8_t> packed_values(of.heads * s8_value_bytes(shape));
        std::vector<float> key_scales(of.heads * shape.max_tokens), value_scales(of.heads * shape.max_tokens);
        const S8HeadCache keys{packed_keys.data(), key_scales.data()};
        const S8HeadCache values{packed_values.data(), value_scales.data()};
        const OpContext context{kernels, scratch.data()};
        PackKeysS8{shape, all, texts, {key.data(), in.width}, keys}.run(context, 0, of.heads);
        PackValuesS8{shape, all, texts, {value.data(), in.width}, values}.run(context, 0, of.heads);
        std::vector<float> out(query.size());
        const AttentionS8 attention{shape,  score_scale(of),       all, texts, {query.data(), in.width}, keys,
                                    values, {out.data(), in.width}};
        attention.run(context, 0, attention.units());
        return out;
    }

    // With 8 columns behind a row's last, heads of some widths are split in lanes.
    static void expect_same(const Case& of) {
        for (const std::uint32_t columns_behind : {5u, 8u})
            expect_same(of, Projections(of, columns_behind));
    }
    static void expect_same(const Case& of, const Projections& in) {
        const std::vector<float> want = on_host(of, in);

        const DeviceArray<std::int32_t> sums(in.sums);
        const DeviceArray<float> row_scales(in.row_scales), column_scales(in.column_scales), bias(in.bias);
        const cuda::Heads sizes{of.heads, of.head_width, 1.0f};
        cuda::QuantizedHeads heads{nullptr, nullptr, of.heads, of.head_width, in.batch.places};
        const DeviceArray<std::int8_t> q(cuda::s8_heads_bytes(sizes, in.batch.places));
        const DeviceArray<float> scales(cuda::s8_heads_scales(sizes, in.batch.places));
        heads.q = q.data();
        heads.scales = scales.data();
        run(cuda::SplitHeads{{sums.data(), in.stride, row_scales.data(), column_scales.data(), bias.data()},
                             in.batch.tokens.data(),
                             in.batch.texts.data(),
                             heads,
                             in.batch.row_count(),
                             in.batch.rows + kRowsBehind});

        const auto stride = static_cast<std::uint32_t>(round_up(of.head_width, cuda::kTile));
        const cuda::AttentionShape shape{of.heads, of.head_width, stride, score_scale(of)};
        const std::uint32_t longest = in.batch.longest() + 7;
        for (const std::uint32_t query_rows : {16u, 32u, 64u}) {
            if (cuda::attention_shared_bytes(longest, stride, query_rows, 1) > cuda::kMostSharedBytes) continue;
            const DeviceArray<float> context(std::size_t{in.batch.rows + 1} * in.width);
            run(cuda::AttentionExact{{shape, heads, context.data(), in.width},
                                     in.batch.texts.data(),
                                     false,
                                     query_rows,
                                     longest,
                                     in.batch.texts_counted(),
                                     in.batch.text_count + 1});
            EXPECT_TRUE(same_bits(written(context, want.size()), want))
                << of.heads << " heads of " << of.head_width << ", " << query_rows << " query rows";
        }

        std::vector<float> want_first;
        for (const TextRows& text : in.batch.on_host) {
            for (std::uint32_t i = 0; i < in.width; ++i)
                want_first.push_back(want[std::size_t{text.first} * in.width + i]);
        }
        const DeviceArray<float> context(std::size_t{in.batch.text_count + 1} * in.width);
        run(cuda::AttentionExact{{shape, heads, context.data(), in.width},
                                 in.batch.texts.data(),
                                 true,
                                 cuda::kTile,
                                 longest,
                                 in.batch.texts_counted(),
                                 in.batch.text_count + 1});
        EXPECT_TRUE(same_bits(written(context, want_first.size()), want_first)) << "first rows";

        switch (of.head_width) {
            case 32:
                return expect_streamed<cuda::AttentionExact32>(in.batch, shape, heads, want, want_first);
            case 64:
                return expect_streamed<cuda::AttentionExact64>(in.batch, shape, heads, want, want_first);
            case 128:
                return expect_streamed<cuda::AttentionExact128>(in.batch, shape, heads, want, want_first);
        }
    }

    template <class Kernel>
    static void expect_streamed(const Batch& batch, const cuda::AttentionShape& shape,
                                const cuda::QuantizedHeads& heads, const std::vector<float>& want,
                                const std::vector<float>& want_first) {
        const std::uint32_t width = shape.heads * shape.head_width;
        for (const bool first_rows_only : {false, true}) {
            const std::vector<float>& wanted = first_rows_only ? want_first : want;
            const DeviceArray<float> context(wanted.size() + width);
            run(Kernel{{shape, heads, context.data(), width},
                       batch.texts.data(),
                       first_rows_only,
                       batch.longest() + 7,
                       batch.texts_counted(),
                       batch.text_count + 1});
            EXPECT_TRUE(same_bits(written(context, wanted.size()), wanted))
                << shape.heads << " heads of " << shape.head_width << ", streamed, first rows only " << first_rows_only;
        }
    }
};

TEST_F(ExactAttention, IsThatOfTheCpu) {
    for (const Case& of : kCases)
        expect_same(of);
}

TEST_F(ExactAttention, OfRandomShapes) {
    Random random;
    for (int i = 0; i < 12; ++i) {
        Case of{1 + random.bits() % 3, 1 + random.bits() % 80, {}};
        for (std::uint32_t texts = 1 + random.bits() % 4; texts > 0; --texts)
            of.lengths.push_back(1 + random.bits() % 70);
        expect_same(of);
    }
}

}  // namespace
}  // namespace etch::testing
