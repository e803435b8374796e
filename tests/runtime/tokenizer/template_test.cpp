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

// All that a model reads of an input that is padded: texts, pairs, and both where they are cut.
TEST(Template, Padding) {
    BertTokenizer tables = with({2, 4, {{kFirst, 1}, {3, 1}}, {{kFirst, 0}, {3, 0}, {kSecond, 0}, {3, 1}}});
    tables.parts.padded = 6;
    tables.parts.padding = 9;
    const auto single = Call(tables, 8).single("the world", etch::SpecialTokens::recognized);
    EXPECT_EQ((Ids{single.ids.begin() + 2, single.ids.end()}), (Ids{3, 9, 9, 9}));
    EXPECT_EQ(single.segments, (Segments{1, 1, 1, 0, 0, 0}));
    EXPECT_FALSE(single.truncated);
    for (std::size_t i = 2; i < 6; ++i)
        EXPECT_EQ(single.offsets[i].end, 0U);
    const auto empty = Call(tables, 6).single("", etch::SpecialTokens::recognized);
    EXPECT_EQ(empty.ids, (Ids{3, 9, 9, 9, 9, 9}));
    const auto pair = Call(tables, 6).pair("the", "world");
    EXPECT_EQ((Ids{pair.ids.begin() + 3, pair.ids.end()}), (Ids{3, 9, 9}));
    EXPECT_EQ(pair.segments, (Segments{0, 0, 0, 1, 0, 0}));

    const auto longer = Call(tables, 8).single("the the the the the the", etch::SpecialTokens::recognized);
    EXPECT_EQ(longer.ids.size(), 7U);
    const auto cut = Call(tables, 6).single("the the the the the the", etch::SpecialTokens::recognized);
    EXPECT_TRUE(cut.truncated);
    EXPECT_EQ(cut.ids.size(), 6U);
    EXPECT_EQ(cut.ids.back(), 3);
    EXPECT_EQ(Call(tables, 6).pair("the the the", "world hello").ids.size(), 6U);

    // There is room for the text, but not for all that it is padded to: nothing is written.
    const auto none = Call(tables, 5).single("the", etch::SpecialTokens::recognized);
    EXPECT_TRUE(none.truncated);
    EXPECT_EQ(none.ids.size(), 0U);
    const auto no_pair = Call(tables, 5).pair("the", "world");
    EXPECT_TRUE(no_pair.truncated);
    EXPECT_EQ(no_pair.ids.size(), 0U);
}

// The second text stays whole: a translation that is scored is not cut.
TEST(Template, OnlyTheFirstTextIsCut) {
    BertTokenizer tables = kUncased;  // three special tokens
    tables.parts.cuts_first = true;
    const auto whole = Call(tables, 8).pair("the the the", "world hello");
    EXPECT_FALSE(whole.truncated);
    EXPECT_EQ(whole.ids.size(), 8U);
    const auto cut = Call(tables, 6).pair("the the the", "world hello");
    EXPECT_TRUE(cut.truncated);
    EXPECT_EQ(cut.pieces, (std::vector<std::string>{"the", "world", "hello"}));
    EXPECT_EQ(cut.segments, (Segments{0, 0, 0, 1, 1, 1}));

    // No token of the first one would be left.
    std::vector<std::uint64_t> scratch(etch::tokenizer_scratch_bytes(tables) / 8 + 1);
    std::int32_t ids[8];
    etch::TokenOffset offsets[8];
    std::uint8_t segments[8];
    for (const std::uint32_t capacity : {5U, 4U, 3U}) {
        etch::Tokenized result{7, false, true};
        const etch::TokenSink sink{ids, segments, offsets, capacity};
        const auto mode = etch::SpecialTokens::recognized;
        EXPECT_EQ(etch::tokenize_pair(tables, "the", "world hello", mode, scratch.data(), sink, result),
                  etch::Status::hypothesis_too_long);
        EXPECT_TRUE(result.truncated);
        EXPECT_EQ(result.count, 0U);
    }
}

}  // namespace
