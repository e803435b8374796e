// SPDX-License-Identifier: Apache-2.0
// The attention of the fast mode against double precision.
#include <cmath>

#include "bf16_values.hpp"
#include "device_array.hpp"

namespace etch::testing {
namespace {

constexpr double kOfValues = 2.0 * 0x1p-8;  // a probability's rounding, of values up to 2

struct Heads {
    Heads(std::uint32_t number, std::uint32_t head_width, const std::vector<std::uint32_t>& lengths)
        : batch(lengths),
          shape{number, head_width, static_cast<std::uint32_t>(round_up(head_width, cuda::kTile)),
                static_cast<float>(std::log2(std::exp(1.0)) / std::sqrt(1.0 * head_width))},
          width(number * shape.stride),
          qkv(values(batch.rows + cuda::kTile - 1)),
          want(attention()) {}

    std::uint32_t in_stride() const { return 3 * width; }

    std::vector<cuda::Bf16> values(std::uint32_t rows) const {
        std::vector<float> x(std::size_t{rows} * in_stride());
        Random random;
        for (std::size_t i = 0; i < x.size(); ++i) {
            const float value = random.unit() * 2.0f;
            if (i % shape.stride < shape.head_width) x[i] = value;
        }
        return rounded(x);
    }

    // Part 0: queries, 1: keys, 2: values.
    double at(std::uint32_t part, std::uint32_t row, std::uint32_t column) const {
        return value_of(qkv[std::size_t{row} * in_stride() + part * width + column]);
    }

    std::vector<double> attention() const {
        std::vector<double> out(std::size_t{batch.rows} * width);
        for (const TextRows& text : batch.on_host) {
            for (std::uint32_t head = 0; head < shape.heads; ++head) {
                for (std::uint32_t row = text.first; row < text.first + text.count; ++row)
                    attend(text, head * shape.stride, row, &out[std::size_t{row} * width + head * shape.stride]);
            }
        }
        return out;
    }

    void attend(const TextRows& text, std::uint32_t column, std::uint32_t row, double* out) const {
        std::vector<double> e;
        double sum = 0;
        for (std::uint32_t key = text.first; key < text.first + text.count; ++key) {
            double dot = 0;
            for (std::uint32_t i = 0; i < shape.head_width; ++i)
                dot += at(0, row, column + i) * at(1, key, column + i);
            e.push_back(std::exp(dot / std::sqrt(1.0 * shape.head_width)));
            sum += e.back();
        }
        for (std::uint32_t i = 0; i < shape.head_width; ++i) {
            for (std::uint32_t key = 0; key < text.count; ++key)
                out[i] += e[key] / sum * at(2, text.first + key, column + i);
        }
    }

    std::vector<double> want_first_rows() const {
        std::vector<double> first;
        for (const TextRows& text : batch.on_host) {
            for (std::uint32_t i = 0; i < width; ++i)
                first.push_back(want[std::size_t{text.first} * width + i]);
        }
        return first;
    }

    Batch batch;
    cuda::AttentionShape shape;
    std::uint32_t width;
    std::vector<cuda::Bf16> qkv;
    std::vector<double> want;
};

class AttentionOfFastMode : public KernelTest {
  protected:
    // `work` is query rows of a block, or warps that share a tile. `rows_behind` can be read behind the last one.
    template <class Kernel>
    static void expect(const Heads& of, std::uint32_t work, std::uint32_t rows_behind) {
        std::vector<cuda::Bf16> readable = of.qkv;
        readable.resize(std::size_t{of.batch.rows + rows_behind} * of.in_stride());
        const DeviceArray<cuda::Bf16> in(readable);
        for (const bool first_rows_only : {false, true}) {
            const std::vector<double> want = first_rows_only ? of.want_first_rows() : of.want;
            const DeviceArray<cuda::Bf16> context(want.size() + of.width);
            run(Kernel{{of.shape, in.data(), of.in_stride(), context.data(), of.width},
                       of.batch.texts.data(),
                       first_rows_only,
                       work,
                       of.batch.longest() + 5,
                       of.batch.texts_counted(),
                       of.batch.text_count + 1});
            EXPECT_TRUE(near(written(context, want.size()), want, kRounding, kOfValues))
                << of.shape.heads << " heads of " << of.shape.head_width << ", " << work << ", first rows only "
                << first_rows_only;
        }
    }
};

TEST_F(AttentionOfFastMode, OfAnyWidth) {
    const Heads cases[] = {{1, 1, {1}},       {2, 5, {1, 3, 2}}, {3, 16, {16, 17, 31}}, {1, 33, {15, 64, 47}},
                           {2, 64, {120, 3}}, {1, 64, {221}},    {1, 128, {20, 90}}};
    for (const Heads& of : cases) {
        for (const std::uint32_t query_rows : {16u, 32u})
            expect<cuda::AttentionFast>(of, query_rows, cuda::kTile - 1);
    }
}

TEST_F(AttentionOfFastMode, Streamed) {
    for (const std::uint32_t splits : {1u, 2u, 4u}) {
        expect<cuda::AttentionFast32>({2, 32, {1, 33, 70}}, splits, 0);
        expect<cuda::AttentionFast32>({1, 20, {17}}, splits, 0);
        expect<cuda::AttentionFast64>({1, 64, {300}}, splits, 0);
        expect<cuda::AttentionFast64>({3, 64, {16, 1, 65, 31}}, splits, 0);
        expect<cuda::AttentionFast128>({1, 128, {20, 90}}, splits, 0);
    }
}

}  // namespace
}  // namespace etch::testing
