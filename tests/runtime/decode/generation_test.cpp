// SPDX-License-Identifier: Apache-2.0
#include "etch/decode/generation.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "etch/kernels.hpp"

namespace etch {
namespace {

std::int32_t best(const std::vector<float>& logits, const std::vector<std::int32_t>& never) {
    const TargetRules rules{static_cast<std::uint32_t>(logits.size()), 4, 0, nullptr, 0, false, never.data(),
                            static_cast<std::uint32_t>(never.size())};
    std::int32_t token = -1;
    const OpContext context{*best_kernels(Packing::panel), nullptr};
    const BestToken op{rules, logits.data(), &token};
    op.run(context, 0, op.units());
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

TEST(BestToken, NoUnitsWriteNothing) {
    const TargetRules rules{};
    std::int32_t token = 7;
    BestToken{rules, nullptr, &token}.run({*best_kernels(Packing::panel), nullptr}, 0, 0);
    EXPECT_EQ(token, 7);
}

}  // namespace
}  // namespace etch
