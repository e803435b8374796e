// SPDX-License-Identifier: Apache-2.0
#include "etch/decode/argmax.hpp"

#include <gtest/gtest.h>

namespace etch::testing {
namespace {

TEST(Argmax, TheLowestOfTheLargest) {
    const float values[] = {1.0f, 3.0f, -5.0f, 3.0f, 2.0f};
    EXPECT_EQ(argmax(values, 5), 1u);
    EXPECT_EQ(argmax(values, 1), 0u);
    EXPECT_EQ(argmax(values + 2, 3), 1u);
}

}  // namespace
}  // namespace etch::testing
