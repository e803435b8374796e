// SPDX-License-Identifier: Apache-2.0
// The causal convolution against its header's formula, and step by step against all rows at once.
#include "etch/ops/convolution.hpp"

#include <cmath>

#include "etch/ops/row_ops.hpp"
#include "support.hpp"
#include "units.hpp"

namespace etch::testing {
namespace {

constexpr std::uint32_t kWidth = 37;
constexpr TextRows kTexts[] = {whole_text(1), whole_text(9, 1, 16), whole_text(4, 10, 32)};
constexpr Texts kAll{kTexts, 3};
constexpr std::uint32_t kRows = 14;

struct Values {
    explicit Values(std::uint32_t count)
        : taps(Random(kSeed).floats(count * kWidth, 1.0f)),
          bias(Random(kSeed + 1).floats(kWidth, 0.5f)),
          input(Random(kSeed + 2).floats(kRows * kWidth, 2.0f)),
          weights{taps.data(), bias.data(), count} {}

    F32Rows rows() { return {input.data(), kWidth}; }

    std::vector<float> taps;
    std::vector<float> bias;
    std::vector<float> input;
    ConvolutionWeights weights;
};

template <class Op>
void run_backwards(const Op& op) {
    testing::run_backwards(op, {*usable_sets()[0], nullptr});
}

// Of all texts, `block` rows at a time.
std::vector<float> convolved(Values& values, std::uint32_t block) {
    std::vector<float> out(kRows * kWidth, NAN);
    for (const RowBlock rows : RowBlocks(kRows, block)) {
        const F32Rows to = F32Rows{out.data(), kWidth}.from(rows.first);
        run_backwards(CausalConvolution{values.weights, rows, kAll, values.rows(), to});
    }
    return out;
}

TEST(Convolution, AddsFromTheEarliestRowOn) {
    for (const std::uint32_t count : {2u, 3u, 5u, 12u}) {
        Values values(count);
        for (const bool has_bias : {false, true}) {
            values.weights.bias = has_bias ? values.bias.data() : nullptr;
            std::vector<float> want(kRows * kWidth);
            for (const TextRows& text : kTexts) {
                for (std::uint32_t t = 0; t < text.count; ++t) {
                    for (std::uint32_t i = 0; i < kWidth; ++i) {
                        float sum = 0.0f;
                        for (std::uint32_t tap = 0; tap < count; ++tap) {
                            if (t + tap + 1 < count) continue;
                            const std::uint32_t row = text.first + t + tap + 1 - count;
                            sum = sum + (values.input[row * kWidth + i] * values.taps[tap * kWidth + i]);
                        }
                        want[(text.first + t) * kWidth + i] = has_bias ? sum + values.bias[i] : sum;
                    }
                }
            }
            for (const std::uint32_t block : {1u, 3u, kRows})
                EXPECT_TRUE(same_bits(convolved(values, block), want)) << count << " taps, blocks of " << block;
        }
    }
}

TEST(Convolution, FirstRowsAlone) {
    Values values(3);
    const std::vector<float> all = convolved(values, kRows);
    std::vector<float> moved = values.input;
    FirstRows{kAll, {moved.data(), kWidth}}.run({*usable_sets()[0], nullptr}, 0, 1);
    std::vector<float> out(3 * kWidth, NAN);
    run_backwards(
        CausalConvolution{values.weights, {0, 3}, kAll.first_rows(), {moved.data(), kWidth}, {out.data(), kWidth}});
    for (std::uint32_t text = 0; text < 3; ++text)
        EXPECT_EQ(std::memcmp(&out[text * kWidth], &all[kTexts[text].first * kWidth], kWidth * sizeof(float)), 0);
}

// Each text in a slot of its own, whose state begins with what another one has left.
TEST(Convolution, StepsGiveTheSameBits) {
    constexpr std::uint32_t kRoom = 16;
    for (const std::uint32_t count : {2u, 3u, 5u, 12u}) {
        Values values(count);
        const std::vector<float> all = convolved(values, kRows);
        for (const std::uint32_t at_once : {1u, 2u, 4u}) {
            std::vector<float> states(3 * (count - 1) * kWidth, NAN);
            for (std::uint32_t position = 0; position < 9; position += at_once) {
                std::vector<TextRows> steps;
                std::vector<float> input;
                std::vector<float> want;
                for (const TextRows& text : kTexts) {
                    if (position >= text.count) continue;
                    const std::uint32_t some = text.count - position < at_once ? text.count - position : at_once;
                    const std::uint32_t first = static_cast<std::uint32_t>(input.size()) / kWidth;
                    steps.push_back({first, some, position, position + some, text.place});
                    const std::size_t begin = std::size_t{text.first + position} * kWidth;
                    const std::size_t end = begin + std::size_t{some} * kWidth;
                    const auto part = [&](const std::vector<float>& of) {
                        return std::vector<float>(of.begin() + static_cast<std::ptrdiff_t>(begin),
                                                  of.begin() + static_cast<std::ptrdiff_t>(end));
                    };
                    const std::vector<float> rows = part(values.input);
                    const std::vector<float> found = part(all);
                    input.insert(input.end(), rows.begin(), rows.end());
                    want.insert(want.end(), found.begin(), found.end());
                }
                std::vector<float> out(input.size(), NAN);
                const Texts texts{steps.data(), static_cast<std::uint32_t>(steps.size())};
                run_backwards(ConvolutionStep{values.weights,
                                              texts,
                                              {input.data(), kWidth},
                                              {states.data(), (count - 1) * kWidth},
                                              {out.data(), kWidth},
                                              kRoom});
                EXPECT_TRUE(same_bits(out, want)) << count << " taps from " << position;
            }
        }
    }
}

TEST(Convolution, StatesAreCopiedInEveryLayer) {
    constexpr std::uint32_t kRoom = 32;
    constexpr std::uint32_t kBeams = 3;
    constexpr std::uint32_t kLayers = 2;
    std::vector<float> states = Random(kSeed).floats(kLayers * kBeams * kWidth, 1.0f);
    std::vector<float> want = states;
    for (std::uint32_t layer = 0; layer < kLayers; ++layer)
        std::memcpy(&want[(layer * kBeams + 2) * kWidth], &want[layer * kBeams * kWidth], kWidth * sizeof(float));
    const CacheCopy copies[] = {{0, 2 * kRoom, 3, 5}};
    const CopyStates op{kRoom, kBeams, kLayers, {copies, 1}, {states.data(), kWidth}};
    EXPECT_EQ(op.units(), kLayers);
    run_backwards(op);
    EXPECT_TRUE(same_bits(states, want));
}

}  // namespace
}  // namespace etch::testing
