// SPDX-License-Identifier: Apache-2.0
#include "etch/cuda/buckets.hpp"

#include <gtest/gtest.h>

namespace {

using namespace etch::cuda;

TEST(Buckets, HoldTheRowsAndWasteASixteenthAtMost) {
    for (std::uint32_t rows = 1; rows <= 70000; ++rows) {
        const std::uint32_t b = bucket(rows);
        ASSERT_GE(b, rows);
        ASSERT_EQ(b % kBucketRows, 0u);
        ASSERT_EQ(bucket(b), b);
        ASSERT_LT(b - rows, rows <= 1024 ? kBucketRows : rows / 16) << rows;
    }
}

TEST(Buckets, AreCountedInOrder) {
    std::uint32_t count = 0;
    for (std::uint32_t b = kBucketRows; b <= 70000; b = bucket(b + 1))
        ASSERT_EQ(bucket_count(b), ++count);
    EXPECT_EQ(bucket_count(1), 1u);
    EXPECT_EQ(bucket_count(33), 2u);
}

// The algorithms of the last layer's rows are asked for with those of all rows.
TEST(Buckets, SixteenthsReachEveryBucketOfTexts) {
    for (const std::uint32_t rows : {32u, 256u, 600u, 5000u, 16384u, 100000u}) {
        const Capacity most = capacity_of(rows);
        for (std::uint32_t texts = 1; texts <= most.texts; ++texts) {
            bool reached = false;
            for (std::uint32_t b = kBucketRows; b <= most.rows && !reached; b = bucket(b + 1))
                reached = bucket(b / 16) == bucket(texts);
            ASSERT_TRUE(reached) << rows << " rows, " << texts << " texts";
        }
    }
}

TEST(Buckets, NoPassHasMoreTextsThanAGridHasBlocks) {
    EXPECT_EQ(capacity_of(kMostRows).texts, 65535u);
    EXPECT_EQ(capacity_of(300).texts, 20u);
}

}  // namespace
