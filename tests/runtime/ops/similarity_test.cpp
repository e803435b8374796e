// SPDX-License-Identifier: Apache-2.0
// The cosine of two vectors and MaxSim: the sequences of float operations that their header states, step by step, and
// double precision for the meaning.
#include "etch/similarity.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "row_sums.hpp"
#include "support.hpp"

namespace etch::testing {
namespace {

constexpr std::uint32_t kWidths[] = {1, 15, 16, 17, 33, 384};

TEST(CosineSimilarity, NearDoublePrecision) {
    for (const std::uint32_t width : kWidths) {
        const std::vector<float> a = Random(width).floats(width, 2.0f, 0.3f);
        const std::vector<float> b = Random(width + 1).floats(width, 0.5f, 0.1f);
        double ab = 0;
        double aa = 0;
        double bb = 0;
        for (std::uint32_t i = 0; i < width; ++i) {
            ab += static_cast<double>(a[i]) * static_cast<double>(b[i]);
            aa += static_cast<double>(a[i]) * static_cast<double>(a[i]);
            bb += static_cast<double>(b[i]) * static_cast<double>(b[i]);
        }
        EXPECT_NEAR(cosine_similarity(a.data(), b.data(), width), ab / std::sqrt(aa * bb), 1e-6) << width;
    }
}

TEST(CosineSimilarity, SumsAreTheContractsRowSums) {
    const std::vector<float> a = Random(1).floats(300);
    const std::vector<float> b = Random(2).floats(300);
    std::vector<float> ab;
    std::vector<float> aa;
    std::vector<float> bb;
    for (std::uint32_t i = 0; i < 300; ++i) {
        ab.push_back(a[i] * b[i]);
        aa.push_back(a[i] * a[i]);
        bb.push_back(b[i] * b[i]);
    }
    const volatile float lengths = std::sqrt(row_sum(aa)) * std::sqrt(row_sum(bb));
    EXPECT_TRUE(same_bits(cosine_similarity(a.data(), b.data(), 300), row_sum(ab) / lengths));
}

TEST(CosineSimilarity, StaysInItsRange) {
    for (std::uint32_t seed = 0; seed < 200; ++seed) {
        const std::vector<float> a = Random(seed).floats(50);
        std::vector<float> opposite = a;
        for (float& value : opposite)
            value = -value;
        EXPECT_LE(cosine_similarity(a.data(), a.data(), 50), 1.0f);
        EXPECT_GT(cosine_similarity(a.data(), a.data(), 50), 0.999999f);
        EXPECT_GE(cosine_similarity(a.data(), opposite.data(), 50), -1.0f);
    }
    const float zero[] = {0.0f, 1e-41f};
    const float one[] = {1.0f, 0.0f};
    const float large[] = {0x1p50f, -0x1p50f};
    EXPECT_EQ(cosine_similarity(zero, one, 2), 0.0f);
    EXPECT_EQ(cosine_similarity(zero, zero, 2), 0.0f);
    EXPECT_EQ(cosine_similarity(one, one, 0), 0.0f);
    EXPECT_NEAR(cosine_similarity(large, large, 2), 1.0f, 1e-6f);
    const float tiny[] = {0x1.fffffep-41f};
    EXPECT_EQ(cosine_similarity(tiny, one, 1), 0.0f);
    EXPECT_EQ(cosine_similarity(one, tiny, 1), 0.0f);
    const float nearly[] = {kTiny, 0x1p24f, 0.0f};
    const float orthogonal[] = {kTiny, 0.0f, 0x1p24f};
    EXPECT_TRUE(same_bits(cosine_similarity(nearly, orthogonal, 3), 0.0f));  // 2^-128 would be subnormal
}

TEST(MaxSim, IsTheSumOfTheLargestProducts) {
    constexpr std::uint32_t kQueries = 5;
    constexpr std::uint32_t kDocuments = 7;
    for (const std::uint32_t width : kWidths) {
        const std::vector<float> query = Random(width).floats(kQueries * width);
        std::vector<float> document = Random(width + 1).floats(kDocuments * width);
        document[0] = 0x1p-41f;  // counts as 0
        volatile float expected = 0.0f;
        double exact = 0;
        for (std::uint32_t q = 0; q < kQueries; ++q) {
            float largest = -std::numeric_limits<float>::infinity();
            double most = -std::numeric_limits<double>::infinity();
            for (std::uint32_t d = 0; d < kDocuments; ++d) {
                std::vector<float> products;
                double product = 0;
                for (std::uint32_t i = 0; i < width; ++i) {
                    products.push_back(query[q * width + i] * counted(document[d * width + i]));
                    product += static_cast<double>(query[q * width + i]) * static_cast<double>(document[d * width + i]);
                }
                largest = std::max(largest, row_sum(products));
                most = std::max(most, product);
            }
            expected = expected + largest;
            exact += most;
        }
        const float found = max_sim(query.data(), kQueries, document.data(), kDocuments, width);
        EXPECT_TRUE(same_bits(found, static_cast<float>(expected))) << width;
        EXPECT_NEAR(static_cast<double>(found), exact, 1e-4) << width;
    }
}

TEST(MaxSim, OfNone) {
    const float rows[] = {1.0f, 2.0f};
    EXPECT_EQ(max_sim(rows, 1, rows, 0, 2), kNoDocument);
    EXPECT_EQ(max_sim(rows, 0, rows, 0, 2), kNoDocument);
    EXPECT_EQ(max_sim(rows, 0, rows, 1, 2), 0.0f);
    EXPECT_EQ(max_sim(rows, 1, rows, 1, 2), 5.0f);
    EXPECT_EQ(max_sim(rows, 2, rows, 2, 1), 6.0f);
    const float negative[] = {-1.0f, -0x1p-41f};
    EXPECT_EQ(max_sim(rows, 1, negative, 1, 1), -1.0f);
    EXPECT_EQ(max_sim(rows, 1, negative, 2, 1), 0.0f);
}

}  // namespace
}  // namespace etch::testing
