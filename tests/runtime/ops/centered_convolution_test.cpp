// SPDX-License-Identifier: Apache-2.0
// Convolutions that take from both sides against their header's formulas, over blocks and single rows in any order.
#include "etch/ops/centered_convolution.hpp"

#include <cmath>

#include "support.hpp"
#include "units.hpp"

namespace etch::testing {
namespace {

constexpr std::uint32_t kHeads = 3;
constexpr std::uint32_t kWidth = 3 * 7;
// Shorter and longer than the taps reach; behind each other here, each at a place of its own where rows are kept.
constexpr TextRows kTexts[] = {whole_text(1), whole_text(9, 1, 16), whole_text(4, 10, 32)};
constexpr Texts kAll{kTexts, 3};
constexpr std::uint32_t kRows = 14;
constexpr std::uint32_t kKept = 36;

struct Values {
    explicit Values(std::uint32_t taps)
        : count(taps),
          weights(Random(kSeed).floats(count * kWidth, 1.0f)),
          bias(Random(kSeed + 1).floats(kWidth, 0.5f)),
          input(Random(kSeed + 2).floats(kRows * kWidth, 2.0f)),
          own(Random(kSeed + 3).floats(kRows * kHeads * count, 1.0f)),
          kept(kKept * kWidth, NAN) {}

    F32Rows packed() { return {kept.data(), kWidth}; }

    // The sum over the taps, of which `tap(t, n, i)` is the n-th of channel i at row t of all.
    template <class Tap>
    std::vector<float> expected(bool has_bias, Tap tap) const {
        std::vector<float> want(kRows * kWidth);
        for (const TextRows& text : kTexts) {
            for (std::uint32_t t = 0; t < text.count; ++t) {
                for (std::uint32_t i = 0; i < kWidth; ++i) {
                    float sum = 0.0f;
                    for (std::uint32_t n = 0; n < count; ++n) {
                        const std::int64_t from = std::int64_t{t} + n - count / 2;
                        if (from < 0 || from >= text.count) continue;
                        const float x = input[(text.first + static_cast<std::size_t>(from)) * kWidth + i];
                        sum = sum + (x * tap(text.first + t, n, i));
                    }
                    want[(text.first + t) * kWidth + i] = has_bias ? sum + bias[i] : sum;
                }
            }
        }
        return want;
    }

    std::uint32_t count;
    std::vector<float> weights;
    std::vector<float> bias;
    std::vector<float> input;
    std::vector<float> own;
    std::vector<float> kept;
};

template <class Op>
void run_backwards(const Op& op) {
    testing::run_backwards(op, {*usable_sets()[0], nullptr});
}

void pack(Values& values, std::uint32_t block) {
    for (const RowBlock rows : RowBlocks(kRows, block)) {
        const F32Rows input = F32Rows{values.input.data(), kWidth}.from(rows.first);
        run_backwards(PackRows{rows, kAll, input, values.packed()});
    }
}

TEST(CenteredConvolution, RowsAreKeptAtTheirPlaces) {
    for (const std::uint32_t block : {1u, 3u, kRows}) {
        Values values(3);
        pack(values, block);
        for (const TextRows& text : kTexts) {
            EXPECT_EQ(std::memcmp(&values.kept[text.place * kWidth], &values.input[text.first * kWidth],
                                  text.count * kWidth * sizeof(float)),
                      0);
            const std::size_t behind = std::size_t{text.place + text.count} * kWidth;
            EXPECT_TRUE(behind == values.kept.size() || std::isnan(values.kept[behind]));
        }
    }
}

TEST(CenteredConvolution, AddsFromTheEarliestRowOn) {
    for (const std::uint32_t count : {3u, 5u, 9u, 21u}) {
        Values values(count);
        pack(values, kRows);
        for (const bool has_bias : {false, true}) {
            const ConvolutionWeights weights{values.weights.data(), has_bias ? values.bias.data() : nullptr, count};
            const std::vector<float> want = values.expected(
                has_bias,
                [&](std::uint32_t, std::uint32_t n, std::uint32_t i) { return values.weights[n * kWidth + i]; });
            for (const std::uint32_t block : {1u, 3u, kRows}) {
                std::vector<float> out(kRows * kWidth, NAN);
                for (const RowBlock rows : RowBlocks(kRows, block)) {
                    const F32Rows to = F32Rows{out.data(), kWidth}.from(rows.first);
                    run_backwards(CenteredConvolution{weights, rows, kAll, values.packed(), to});
                }
                EXPECT_TRUE(same_bits(out, want)) << count << " taps, blocks of " << block;
            }
        }
    }
}

TEST(CenteredConvolution, EachHeadHasTheRowsOwnTaps) {
    for (const std::uint32_t count : {1u, 3u, 9u, 21u}) {
        Values values(count);
        pack(values, kRows);
        const std::vector<float> want = values.expected(false, [&](std::uint32_t t, std::uint32_t n, std::uint32_t i) {
            return values.own[(t * kHeads + i / (kWidth / kHeads)) * count + n];
        });
        for (const std::uint32_t block : {1u, 3u, kRows}) {
            std::vector<float> out(kRows * kWidth, NAN);
            for (const RowBlock rows : RowBlocks(kRows, block)) {
                const F32Rows taps = F32Rows{values.own.data(), kHeads * count}.from(rows.first);
                const F32Rows to = F32Rows{out.data(), kWidth}.from(rows.first);
                run_backwards(DynamicConvolution{kHeads, rows, kAll, taps, values.packed(), to});
            }
            EXPECT_TRUE(same_bits(out, want)) << count << " taps, blocks of " << block;
        }
    }
}

// Of the last layer the first row of each text alone, from rows that were kept of all.
TEST(CenteredConvolution, FirstRowsAlone) {
    constexpr std::uint32_t kTaps = 5;
    Values values(kTaps);
    pack(values, kRows);
    const ConvolutionWeights weights{values.weights.data(), nullptr, kTaps};
    std::vector<float> all(kRows * kWidth, NAN);
    std::vector<float> first(3 * kWidth, NAN);
    const F32Rows own{values.own.data(), kHeads * kTaps};
    run_backwards(CenteredConvolution{weights, {0, kRows}, kAll, values.packed(), {all.data(), kWidth}});
    run_backwards(CenteredConvolution{weights, {0, 3}, kAll.first_rows(), values.packed(), {first.data(), kWidth}});
    for (std::uint32_t text = 0; text < 3; ++text)
        EXPECT_EQ(std::memcmp(&first[text * kWidth], &all[kTexts[text].first * kWidth], kWidth * sizeof(float)), 0);
    run_backwards(DynamicConvolution{kHeads, {0, kRows}, kAll, own, values.packed(), {all.data(), kWidth}});
    std::vector<float> moved = values.own;
    for (std::uint32_t text = 0; text < 3; ++text)
        std::memcpy(&moved[text * own.width], own.from(kTexts[text].first).data, own.width * sizeof(float));
    run_backwards(DynamicConvolution{
        kHeads, {0, 3}, kAll.first_rows(), {moved.data(), own.width}, values.packed(), {first.data(), kWidth}});
    for (std::uint32_t text = 0; text < 3; ++text)
        EXPECT_EQ(std::memcmp(&first[text * kWidth], &all[kTexts[text].first * kWidth], kWidth * sizeof(float)), 0);
}

}  // namespace
}  // namespace etch::testing
