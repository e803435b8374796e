// SPDX-License-Identifier: Apache-2.0
// What every call checks of the token ids that it is given.
#include "etch/token_limits.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace etch::testing {
namespace {

constexpr TokenLimits kLimits{4, 100, 2};

Status check(const std::vector<std::int32_t>& ids, const std::vector<std::uint8_t>& segments = {}) {
    return check_tokens(ids.data(), segments.empty() ? nullptr : segments.data(),
                        static_cast<std::uint32_t>(ids.size()), kLimits);
}

TEST(CheckTokens, OneToAsManyAsTheModelTakes) {
    EXPECT_EQ(check({}), Status::no_tokens);
    EXPECT_EQ(check({5}), Status::ok);
    EXPECT_EQ(check({5, 6, 7, 8}), Status::ok);
    EXPECT_EQ(check({5, 6, 7, 8, 9}), Status::too_many_tokens);
}

TEST(CheckTokens, IdsAndSegmentsWithinTheTables) {
    for (const std::int32_t id : {0, 99})
        EXPECT_EQ(check({5, id}), Status::ok) << id;
    for (const std::int32_t id : {-1, 100, INT32_MIN, INT32_MAX}) {
        EXPECT_EQ(check({id, 5}), Status::token_out_of_range) << id;
        EXPECT_EQ(check({5, id}), Status::token_out_of_range) << id;
    }
    EXPECT_EQ(check({5, 6}, {0, 1}), Status::ok);
    EXPECT_EQ(check({5, 6}, {0, 2}), Status::segment_out_of_range);
    EXPECT_EQ(check({5, 6}, {255, 0}), Status::segment_out_of_range);
}

}  // namespace
}  // namespace etch::testing
