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
