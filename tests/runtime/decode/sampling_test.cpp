// SPDX-License-Identifier: Apache-2.0
// Random bits as Philox's authors have them, what is left to draw from, and how often each token is drawn. Whole texts
// are compared with the generator's emulation (tests/end_to_end).
#include "etch/decode/sampling.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "etch/kernels.hpp"

namespace etch {
namespace {

const KernelSet& kBest = *best_kernels(kPanelKernels);

struct Drawn {
    std::int32_t token;
    float log_probability;
};

Drawn draw(std::vector<float> logits, const Sampling& sampling, std::uint32_t written,
           const KernelSet& kernels = kBest) {
    Drawn drawn{-1, 1.0f};
    const DrawnToken op{sampling,     static_cast<std::uint32_t>(logits.size()),
                        written,      logits.data(),
                        &drawn.token, &drawn.log_probability};
    op.run({kernels, nullptr}, 0, op.units());
    return drawn;
}

// Random123's known answers (kat_vectors, philox4x32 10).
TEST(Sampling, RandomBits) {
    struct Known {
        RandomWords counter;
        std::uint64_t key;
        RandomWords answer;
    };
    const Known known[] = {
        {{{0, 0, 0, 0}}, 0, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}},
        {{{~0U, ~0U, ~0U, ~0U}}, ~std::uint64_t{0}, {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}},
        {{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
         0x299f31d0a4093822,
         {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}},
    };
    for (const Known& one : known)
        for (std::size_t i = 0; i < 4; ++i)
            EXPECT_EQ(philox(one.counter, one.key).words[i], one.answer.words[i]);
    EXPECT_EQ(random_bits({0, 0}, 0), 0xe169c58d6627e8d5u);
    EXPECT_NE(random_bits({0, 1}, 0), random_bits({0, 0}, 1));
}

TEST(Sampling, WhatCannotBeDrawnWith) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float infinity = std::numeric_limits<float>::infinity();
    for (const float temperature : {0.0f, 0x1p-10f, 1.0f, 1024.0f})
        EXPECT_EQ(check_sampling({0, 0, temperature, 0, 1.0f}), Status::ok);
    for (const float temperature : {-1.0f, 0x1p-11f, 1025.0f, nan, infinity})
        EXPECT_EQ(check_sampling({0, 0, temperature, 0, 1.0f}), Status::sampling_out_of_range);
    for (const float top_p : {0.0f, -0.5f, 1.5f, nan})
        EXPECT_EQ(check_sampling({0, 0, 1.0f, 0, top_p}), Status::sampling_out_of_range);
}

TEST(Sampling, WhatIsLeft) {
    // Probabilities 1/2, 1/4, 1/8, 1/8.
    const float ln2 = std::log(2.0f);
    const std::vector<float> logits = {-3 * ln2, -ln2, -2 * ln2, -3 * ln2, -0x1p100f};
    const auto drawn = [&](std::uint32_t top_k, float top_p) {
        std::vector<bool> seen(logits.size(), false);
        for (std::uint32_t i = 0; i < 400; ++i)
            seen[static_cast<std::size_t>(draw(logits, {1, 2, 1.0f, top_k, top_p}, i).token)] = true;
        return seen;
    };
    const std::vector<bool> one = {false, true, false, false, false};
    const std::vector<bool> two = {false, true, true, false, false};
    const std::vector<bool> all = {true, true, true, true, false};
    EXPECT_EQ(drawn(0, 1.0f), all);
    EXPECT_EQ(drawn(1, 1.0f), one);
    EXPECT_EQ(drawn(2, 1.0f), two);
    EXPECT_EQ(drawn(3, 1.0f), all);  // of equal ones all
    EXPECT_EQ(drawn(9, 1.0f), all);
    EXPECT_EQ(drawn(0, 0.01f), one);
    EXPECT_EQ(drawn(0, 1e-30f), one);  // no weight at all
    EXPECT_EQ(drawn(0, 0.49f), one);
    EXPECT_EQ(drawn(0, 0.6f), two);
    EXPECT_EQ(drawn(0, 0.8f), all);
    EXPECT_EQ(drawn(2, 0.6f), one);  // of what top_k leaves: 2/3 and 1/3
    EXPECT_EQ(drawn(2, 0.7f), two);
}

TEST(Sampling, OneThatIsLeftIsCertain) {
    const Drawn drawn = draw({1.0f, 3.0f, 2.0f}, {9, 0, 1.0f, 1, 1.0f}, 0);
    EXPECT_EQ(drawn.token, 1);
    EXPECT_EQ(drawn.log_probability, 0.0f);
    EXPECT_EQ(draw({1.0f, 3.0f, 2.0f}, {9, 0, 0x1p-10f, 0, 1.0f}, 5).token, 1);
    EXPECT_EQ(draw({4.0f}, {}, 0).token, 0);
}

// Chi squared of 40 tokens: 39 degrees of freedom, more than 90 once in two hundred thousand seeds; the seed is fixed.
TEST(Sampling, HowOften) {
    constexpr std::uint32_t kTokens = 40;
    constexpr std::uint32_t kDraws = 20000;
    for (const float temperature : {0.7f, 1.0f, 3.0f}) {
        std::vector<float> logits(kTokens);
        std::vector<double> meant(kTokens);
        double sum = 0;
        for (std::uint32_t i = 0; i < kTokens; ++i) {
            logits[i] = static_cast<float>(i * 7 % 11) * 0.3f;
            meant[i] = std::exp(static_cast<double>(logits[i]) / static_cast<double>(temperature));
            sum += meant[i];
        }
        std::vector<std::uint32_t> found(kTokens, 0);
        for (std::uint32_t i = 0; i < kDraws; ++i) {
            const Drawn drawn = draw(logits, {11, i / 100, temperature, 0, 1.0f}, i % 100);
            const auto token = static_cast<std::size_t>(drawn.token);
            ++found[token];
            ASSERT_NEAR(drawn.log_probability, std::log(meant[token] / sum), 2e-6);
        }
        double chi = 0;
        for (std::uint32_t i = 0; i < kTokens; ++i) {
            const double expected = kDraws * meant[i] / sum;
            chi += (found[i] - expected) * (found[i] - expected) / expected;
        }
        EXPECT_LT(chi, 90.0) << temperature;
    }
}

TEST(Sampling, TheSameOnEveryKernelSet) {
    std::vector<float> logits(1003);
    for (std::size_t i = 0; i < logits.size(); ++i)
        logits[i] = static_cast<float>(i * 37 % 1003) * 0.01f;
    for (std::uint32_t written = 0; written < 20; ++written) {
        const Drawn meant = draw(logits, {3, 1, 0.8f, 200, 0.95f}, written);
        for (std::size_t i = 0; !usable_kernel_name(kPanelKernels, i).empty(); ++i) {
            const KernelSet* kernels = nullptr;
            ASSERT_EQ(find_kernels(kPanelKernels, usable_kernel_name(kPanelKernels, i), kernels), Status::ok);
            const Drawn drawn = draw(logits, {3, 1, 0.8f, 200, 0.95f}, written, *kernels);
            EXPECT_EQ(drawn.token, meant.token);
            EXPECT_EQ(drawn.log_probability, meant.log_probability);
        }
    }
}

// Whatever the logits are, what is drawn is a token: others lie behind them.
TEST(Sampling, LogitsThatAreNoNumbers) {
    const float infinity = std::numeric_limits<float>::infinity();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    float all_ones;  // as bytes that nobody has written may be
    std::memset(&all_ones, 0xFF, sizeof all_ones);
    const float but_the_sign = std::copysign(all_ones, 1.0f);  // exp2 makes the largest number of it
    constexpr std::uint32_t kTokens = 40;
    for (std::size_t set = 0; !usable_kernel_name(kPanelKernels, set).empty(); ++set) {
        const KernelSet* kernels = nullptr;
        ASSERT_EQ(find_kernels(kPanelKernels, usable_kernel_name(kPanelKernels, set), kernels), Status::ok);
        for (const float bad :
             {nan, -nan, all_ones, but_the_sign, infinity, -infinity, std::numeric_limits<float>::max()}) {
            for (const std::uint32_t first : {0U, 1U, 17U, kTokens - 1}) {
                for (const std::uint32_t count : {1U, kTokens}) {
                    for (const Sampling& sampling : {Sampling{}, Sampling{5, 0, 0.001f, 0, 1.0f},
                                                     Sampling{5, 0, 1.0f, 3, 1.0f}, Sampling{5, 0, 1.0f, 7, 0.5f}}) {
                        std::vector<float> logits(kTokens + 64, 0.5f);
                        for (std::uint32_t i = first; i < kTokens && i < first + count; ++i)
                            logits[i] = bad;
                        Drawn drawn{-1, 1.0f};
                        DrawnToken{sampling, kTokens, 0, logits.data(), &drawn.token, &drawn.log_probability}.run(
                            {*kernels, nullptr}, 0, 1);
                        EXPECT_GE(drawn.token, 0);
                        EXPECT_LT(drawn.token, static_cast<std::int32_t>(kTokens)) << bad << " at " << first;
                        EXPECT_LE(drawn.log_probability, 0.0f);
                    }
                }
            }
        }
    }
}

TEST(Sampling, NothingHasWeight) {
    const float infinity = std::numeric_limits<float>::infinity();
    for (const std::vector<float>& logits : {std::vector<float>{infinity, infinity, infinity},
                                             std::vector<float>(3, -infinity), std::vector<float>{1.0f, infinity}}) {
        const Drawn drawn = draw(logits, {}, 0);
        EXPECT_EQ(drawn.token, 0);
        EXPECT_EQ(drawn.log_probability, -infinity);
    }
}

TEST(Sampling, NoUnitsDrawNothing) {
    std::int32_t token = 7;
    DrawnToken{kGreedy, 0, 0, nullptr, &token, nullptr}.run({*best_kernels(kPanelKernels), nullptr}, 0, 0);
    EXPECT_EQ(token, 7);
}

}  // namespace
}  // namespace etch
