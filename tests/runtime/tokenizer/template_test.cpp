// SPDX-License-Identifier: Apache-2.0
// Templates other than BERT's: special tokens at any place, segments as they say.
#include <gtest/gtest.h>

#include "calls.hpp"

namespace {

using etch::BertTokenizer;
using etch::TemplatePart;
using tokenizer_calls::Call;
using tokenizer_calls::kUncased;

constexpr std::int32_t kFirst = TemplatePart::kFirst;
constexpr std::int32_t kSecond = TemplatePart::kSecond;

BertTokenizer with(const etch::Template& parts) {
    BertTokenizer tables = kUncased;
    tables.parts = parts;
    return tables;
}

using Ids = std::vector<std::int32_t>;
using Segments = std::vector<int>;

TEST(Template, SecondTextInTheFirstSegment) {
    const BertTokenizer tables =
        with({3, 6, {{2, 0}, {kFirst, 0}, {3, 0}}, {{2, 0}, {kFirst, 0}, {3, 0}, {3, 0}, {kSecond, 0}, {3, 0}}});
    const auto pair = Call(tables, 50).pair("the", "world hello");
    EXPECT_EQ(pair.segments, Segments(7, 0));
    EXPECT_EQ(pair.ids[0], 2);
    EXPECT_EQ((Ids{pair.ids[2], pair.ids[3]}), (Ids{3, 3}));
    EXPECT_EQ(pair.ids.back(), 3);
    // Five tokens fit beside four special ones: the longer text is cut.
    const auto cut = Call(tables, 6).pair("the the the", "world hello");
    EXPECT_TRUE(cut.truncated);
    EXPECT_EQ(cut.ids.size(), 6U);
    EXPECT_EQ(Call(tables, 3).pair("the", "hello").ids.size(), 0U);
}

TEST(Template, NothingAround) {
    const BertTokenizer tables = with({1, 2, {{kFirst, 0}}, {{kFirst, 4}, {kSecond, 5}}});
    const auto single = Call(tables, 2).single("the world hello", etch::SpecialTokens::recognized);
    EXPECT_EQ(single.ids.size(), 2U);
    EXPECT_TRUE(single.truncated);
    EXPECT_EQ(Call(tables, 9).pair("the", "world hello").segments, (Segments{4, 5, 5}));
    EXPECT_EQ(Call(tables, 0).single("", etch::SpecialTokens::recognized).ids.size(), 0U);
}

TEST(Template, OnlyBehind) {
    const BertTokenizer tables = with({2, 4, {{kFirst, 0}, {3, 0}}, {{kFirst, 0}, {3, 0}, {kSecond, 0}, {3, 1}}});
    const auto single = Call(tables, 4).single("the world", etch::SpecialTokens::recognized);
    EXPECT_EQ(single.ids.size(), 3U);
    EXPECT_EQ(single.ids.back(), 3);
    const auto pair = Call(tables, 8).pair("the", "world");
    EXPECT_EQ(pair.ids[1], 3);
    EXPECT_EQ(pair.segments, (Segments{0, 0, 0, 1}));
}

}  // namespace
