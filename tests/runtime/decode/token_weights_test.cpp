// SPDX-License-Identifier: Apache-2.0
// The largest weights of a row, and the products of two texts: against a sort and a map.
#include "etch/decode/token_weights.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "etch/similarity.hpp"

namespace etch::testing {
namespace {

bool operator==(const TokenWeight& a, const TokenWeight& b) {
    return a.id == b.id && a.weight == b.weight;
}

std::vector<TokenWeight> sorted(const std::vector<float>& dense) {
    std::vector<TokenWeight> found;
    for (std::size_t i = 0; i < dense.size(); ++i) {
        if (dense[i] > 0.0f) found.push_back({static_cast<std::int32_t>(i), dense[i]});
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const TokenWeight& a, const TokenWeight& b) { return a.weight > b.weight; });
    return found;
}

// Many equal values, many zeros.
std::vector<float> dense_of(std::uint32_t seed, std::size_t entries) {
    std::vector<float> dense(entries);
    for (float& weight : dense) {
        seed = seed * 1664525u + 1013904223u;
        const std::uint32_t value = (seed >> 16) % 31;
        weight = value < 16 ? 0.0f : static_cast<float>(value - 15) * 0.25f;
    }
    return dense;
}

TEST(TokenWeights, AreTheLargestInOrder) {
    for (std::uint32_t seed = 0; seed < 20; ++seed) {
        for (const std::size_t entries : {1u, 2u, 3u, 40u, 321u}) {
            std::vector<float> dense = dense_of(seed, entries);
            const std::vector<TokenWeight> meant = sorted(dense);
            const std::uint32_t all = static_cast<std::uint32_t>(meant.size());
            for (const std::uint32_t capacity : {0u, 1u, 2u, 3u, 7u, 8u, all, all + 1, all + 9}) {
                std::vector<TokenWeight> found(capacity + 1, TokenWeight{-7, -1});
                const F32Rows row{dense.data(), static_cast<std::uint32_t>(entries)};
                ASSERT_EQ(find_weights(row, capacity == 0 ? nullptr : found.data(), capacity), all);
                const std::uint32_t kept = std::min(capacity, all);
                for (std::uint32_t i = 0; i < found.size(); ++i) {
                    ASSERT_TRUE(found[i] == (i < kept ? meant[i] : TokenWeight{-7, -1}))
                        << i << " of " << capacity << ", seed " << seed;
                }
            }
        }
    }
}

TEST(TokenWeights, OfNothingAreNone) {
    float dense[] = {0.0f, -0.0f, -1.0f};
    TokenWeight found{-7, -1};
    EXPECT_EQ(find_weights({dense, 3}, &found, 1), 0u);
    EXPECT_EQ(found.id, -7);
    EXPECT_EQ(dot_product(&found, 0, &found, 0), 0.0f);
}

TEST(TokenWeights, ProductsAreOfWhatBothHave) {
    for (std::uint32_t seed = 0; seed < 20; ++seed) {
        const std::vector<TokenWeight> a = sorted(dense_of(seed, 200));
        const std::vector<TokenWeight> b = sorted(dense_of(seed + 100, 150));
        std::map<std::int32_t, float> other;
        for (const TokenWeight& each : b)
            other[each.id] = each.weight;
        volatile float sum = 0.0f;
        std::map<std::int32_t, float> ours;
        for (const TokenWeight& each : a)
            ours[each.id] = each.weight;
        for (const auto& [id, weight] : ours) {
            const auto found = other.find(id);
            if (found == other.end()) continue;
            const volatile float product = weight * found->second;
            sum = sum + product;
        }
        const float found =
            dot_product(a.data(), static_cast<std::uint32_t>(a.size()), b.data(), static_cast<std::uint32_t>(b.size()));
        EXPECT_EQ(found, sum);
        EXPECT_EQ(found, dot_product(b.data(), static_cast<std::uint32_t>(b.size()), a.data(),
                                     static_cast<std::uint32_t>(a.size())));
        EXPECT_GT(found, 0.0f);

        std::vector<TokenWeight> a_by_id = a;
        std::vector<TokenWeight> b_by_id = b;
        sort_by_id(a_by_id.data(), static_cast<std::uint32_t>(a.size()));
        sort_by_id(b_by_id.data(), static_cast<std::uint32_t>(b.size()));
        const std::vector<TokenWeight>* const of_a[] = {&a, &a_by_id};
        const std::vector<TokenWeight>* const of_b[] = {&b, &b_by_id};
        for (const std::vector<TokenWeight>* first : of_a) {
            for (const std::vector<TokenWeight>* second : of_b) {
                EXPECT_EQ(found, dot_product(first->data(), static_cast<std::uint32_t>(first->size()), second->data(),
                                             static_cast<std::uint32_t>(second->size())));
            }
        }
    }
}

TEST(TokenWeights, AreSortedByTheirIds) {
    for (std::uint32_t seed = 0; seed < 20; ++seed) {
        for (const std::size_t entries : {0u, 1u, 2u, 3u, 4u, 40u, 321u}) {
            std::vector<TokenWeight> weights = sorted(dense_of(seed, entries));
            std::vector<TokenWeight> meant = weights;
            std::sort(meant.begin(), meant.end(),
                      [](const TokenWeight& a, const TokenWeight& b) { return a.id < b.id; });
            weights.push_back({-7, -1.0f});  // behind the list
            sort_by_id(weights.data(), static_cast<std::uint32_t>(meant.size()));
            meant.push_back({-7, -1.0f});
            for (std::size_t i = 0; i < meant.size(); ++i)
                ASSERT_TRUE(weights[i] == meant[i]) << i << " of " << entries << ", seed " << seed;
        }
    }
}

// So many that the squares of their numbers would take minutes.
TEST(TokenWeights, ProductsOfListsInOrderTakeLinearTime) {
    std::vector<TokenWeight> many(1u << 20);
    for (std::size_t i = 0; i < many.size(); ++i)
        many[i] = {static_cast<std::int32_t>(2 * i), 0.5f};
    const auto count = static_cast<std::uint32_t>(many.size());
    EXPECT_EQ(dot_product(many.data(), count, many.data(), count), 262144.0f);
    EXPECT_EQ(dot_product(many.data(), count, many.data() + count - 3, 3), 0.75f);
}

struct Result {
    TokenWeight* weights;
    std::uint32_t capacity;
    std::uint32_t count;
};

TEST(TokenWeights, ProductsOfResultsStopAtTheRoom) {
    TokenWeight a[] = {{3, 2.0f}, {1, 1.0f}, {9, 0.5f}};
    TokenWeight b[] = {{9, 4.0f}, {3, 3.0f}};
    EXPECT_EQ(dot_product(Result{a, 3, 3}, Result{b, 8, 2}), 8.0f);
    EXPECT_EQ(dot_product(Result{a, 2, 3}, Result{b, 8, 2}), 6.0f);
    EXPECT_EQ(dot_product(Result{a, 3, 3}, Result{b, 1, 2}), 2.0f);
}

}  // namespace
}  // namespace etch::testing
