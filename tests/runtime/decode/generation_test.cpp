// SPDX-License-Identifier: Apache-2.0
#include "etch/decode/generation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "etch/kernels.hpp"

namespace etch {
namespace {

std::int32_t best(std::vector<float> logits, const std::vector<std::int32_t>& never) {
    const TargetRules rules{static_cast<std::uint32_t>(logits.size()), 4, 0, nullptr, 0, false, never.data(),
                            static_cast<std::uint32_t>(never.size())};
    std::int32_t token = -1;
    float log_probability = 1;
    const OpContext context{*best_kernels(Packing::panel), nullptr};
    const BestToken op{rules, 0, logits.data(), &token, &log_probability};
    op.run(context, 0, op.units());
    EXPECT_LE(log_probability, 0.0f);
    return token;
}

TEST(BestToken, TheLowestOfEquals) {
    EXPECT_EQ(best({-3.0f}, {}), 0);
    EXPECT_EQ(best({-3.0f, 2.0f, 2.0f, -1.0f, 2.0f}, {}), 1);
    EXPECT_EQ(best({-0.0f, 0.0f}, {}), 0);
}

TEST(BestToken, SomeAreNeverWritten) {
    EXPECT_EQ(best({5.0f, 2.0f, 4.0f, 4.0f}, {0}), 2);
    EXPECT_EQ(best({5.0f, 2.0f, 4.0f, 4.0f}, {0, 2, 3}), 1);
    EXPECT_EQ(best({5.0f, -std::numeric_limits<float>::max()}, {0}), 1);
}

TEST(BestToken, LogProbabilityOfAllTokensOrOfThoseThatMayBeWritten) {
    const std::int32_t never[] = {0};
    const KernelSet* scalar = nullptr;
    ASSERT_EQ(find_kernels(Packing::panel, "scalar", scalar), Status::ok);
    for (const KernelSet* kernels : {scalar, best_kernels(Packing::panel)}) {
        for (const bool renormalize : {false, true}) {
            const TargetRules rules{3, 4, 0, nullptr, 0, false, never, 1, renormalize};
            float logits[] = {3.0f, 1.0f, 1.0f};
            std::int32_t token = -1;
            float log_probability = 1;
            BestToken{rules, 0, logits, &token, &log_probability}.run({*kernels, nullptr}, 0, 1);
            EXPECT_EQ(token, 1);
            EXPECT_NEAR(log_probability,
                        renormalize ? -std::log(2.0) : 1.0 - std::log(std::exp(3.0) + 2 * std::exp(1.0)), 1e-6);
        }
    }
}

TEST(BestToken, TheEndComesBehindSoManyTokens) {
    const TargetRules rules{3, 4, 0, nullptr, 1, false, nullptr, 0, false, 2};
    for (std::uint32_t count = 0; count < 4; ++count) {
        float logits[] = {1.0f, 3.0f, 2.0f};
        std::int32_t token = -1;
        float log_probability = 1;
        BestToken{rules, count, logits, &token, &log_probability}.run({*best_kernels(Packing::panel), nullptr}, 0, 1);
        EXPECT_EQ(token, count < 2 ? 2 : 1);
    }
}

TEST(BestToken, NoUnitsWriteNothing) {
    const TargetRules rules{};
    std::int32_t token = 7;
    BestToken{rules, 0, nullptr, &token, nullptr}.run({*best_kernels(Packing::panel), nullptr}, 0, 0);
    EXPECT_EQ(token, 7);
}

}  // namespace
}  // namespace etch
