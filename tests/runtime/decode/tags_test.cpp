// SPDX-License-Identifier: Apache-2.0
// Spans of tags on cases that were worked out by hand; what the pipeline of `transformers` finds is compared with whole
// models (tests/end_to_end/tasks/test_tag_programs.py).
#include "etch/decode/tags.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace etch {
namespace {

// O, B-X, I-X, I-Y, Z-O.
constexpr TagLabel kLabels[] = {
    {0, 0, false, true, true},   {1, 1, true, false, false}, {1, 1, false, false, false},
    {2, 2, false, false, false}, {0, 3, false, false, true},
};
constexpr std::uint32_t kCount = 5;

struct Token {
    TokenMark mark;
    std::vector<float> probability;
};

constexpr TokenMark kBegins = TokenMark::begins_word;
constexpr TokenMark kGoesOn = TokenMark::goes_on;
constexpr TokenMark kSpecial = TokenMark::special;

// One label with this probability, the others with less.
Token sure(TokenMark mark, std::uint32_t label, float probability = 0.5F) {
    Token token{mark, std::vector<float>(kCount, 0.01F)};
    token.probability[label] = probability;
    return token;
}

struct Found {
    std::vector<TagSpan> spans;
    std::uint32_t count;
};

Found find(const std::vector<Token>& tokens, Aggregation aggregation, std::uint32_t capacity = 100) {
    std::vector<TokenOffset> offsets;
    std::vector<TokenMark> marks;
    std::vector<float> rows;
    for (std::uint32_t i = 0; i < tokens.size(); ++i) {
        offsets.push_back({2 * i, 2 * i + 1});
        marks.push_back(tokens[i].mark);
        rows.insert(rows.end(), tokens[i].probability.begin(), tokens[i].probability.end());
    }
    Found found{std::vector<TagSpan>(capacity), 0};
    const TaggedTokens tagged{
        offsets.data(), marks.data(), {rows.data(), kCount}, static_cast<std::uint32_t>(tokens.size())};
    found.count = find_tags(kLabels, tagged, aggregation, capacity == 0 ? nullptr : found.spans.data(), capacity);
    found.spans.resize(std::min(found.count, capacity));
    return found;
}

void expect_span(const TagSpan& span, std::uint32_t label, float score, std::uint32_t begin, std::uint32_t end) {
    EXPECT_EQ(span.label, label);
    EXPECT_FLOAT_EQ(span.score, score);
    EXPECT_EQ(span.begin, begin);
    EXPECT_EQ(span.end, end);
}

TEST(Tags, OfTokens) {
    const Found found =
        find({sure(kSpecial, 1), sure(kBegins, 1), sure(kGoesOn, 0), sure(kBegins, 4), sure(kSpecial, 3)},
             Aggregation::none);
    ASSERT_EQ(found.count, 2U);
    expect_span(found.spans[0], 1, 0.5F, 2, 3);
    expect_span(found.spans[1], 4, 0.5F, 6, 7);  // "Z-O" is a label, though no entity
}

TEST(Tags, EntitiesGoOnAndEnd) {
    const std::vector<Token> tokens = {
        sure(kBegins, 2), sure(kBegins, 2, 0.7F), sure(kBegins, 1), sure(kBegins, 2),
        sure(kBegins, 3), sure(kBegins, 0),       sure(kBegins, 4), sure(kBegins, 3),
    };
    const Found found = find(tokens, Aggregation::simple);
    ASSERT_EQ(found.count, 4U);
    expect_span(found.spans[0], 1, 0.6F, 0, 3);
    expect_span(found.spans[1], 1, 0.5F, 4, 7);  // a new one, by its "B-"
    expect_span(found.spans[2], 2, 0.5F, 8, 9);
    expect_span(found.spans[3], 2, 0.5F, 14, 15);
}

TEST(Tags, WordsByTheirTokens) {
    // A special token stands inside the word, as one that a user typed can.
    Token second{kGoesOn, {0.1F, 0.0F, 0.2F, 0.7F, 0.0F}};
    Token first{kBegins, {0.0F, 0.0F, 0.6F, 0.4F, 0.0F}};
    const std::vector<Token> tokens = {first, sure(kSpecial, 1, 1.0F), second, sure(kBegins, 0)};
    const Found by_first = find(tokens, Aggregation::first);
    ASSERT_EQ(by_first.count, 1U);
    expect_span(by_first.spans[0], 1, 0.6F, 0, 5);
    const Found by_mean = find(tokens, Aggregation::average);
    ASSERT_EQ(by_mean.count, 1U);
    expect_span(by_mean.spans[0], 2, 0.55F, 0, 5);
    const Found by_largest = find(tokens, Aggregation::max);
    ASSERT_EQ(by_largest.count, 1U);
    expect_span(by_largest.spans[0], 2, 0.7F, 0, 5);
}

TEST(Tags, OfEqualOnesTheFirst) {
    const std::vector<Token> tokens = {{kBegins, {0.0F, 0.4F, 0.4F, 0.2F, 0.0F}},
                                       {kGoesOn, {0.0F, 0.2F, 0.0F, 0.4F, 0.4F}}};
    expect_span(find(tokens, Aggregation::none).spans[0], 1, 0.4F, 0, 1);
    expect_span(find(tokens, Aggregation::max).spans[0], 1, 0.4F, 0, 3);
    expect_span(find(tokens, Aggregation::average).spans[0], 1, 0.3F, 0, 3);
}

TEST(Tags, NothingToFind) {
    for (const Aggregation aggregation : {Aggregation::none, Aggregation::simple, Aggregation::first}) {
        EXPECT_EQ(find({}, aggregation).count, 0U);
        EXPECT_EQ(find({sure(kSpecial, 1), sure(kSpecial, 1)}, aggregation).count, 0U);
        EXPECT_EQ(find({sure(kGoesOn, 0)}, aggregation).count, 0U);
    }
}

TEST(Tags, WritesNoMoreThanTheCapacity) {
    std::minstd_rand random(5);
    std::vector<Token> tokens;
    for (int i = 0; i < 300; ++i)
        tokens.push_back(sure(static_cast<TokenMark>(random() % 3), static_cast<std::uint32_t>(random() % kCount)));
    for (int aggregation = 0; aggregation < 5; ++aggregation) {
        const auto wanted = static_cast<Aggregation>(aggregation);
        const Found all = find(tokens, wanted, 1000);
        EXPECT_GT(all.count, 20U);
        EXPECT_LE(all.count, tokens.size());
        for (const std::uint32_t capacity : {0U, 1U, all.count - 1, all.count}) {
            const Found some = find(tokens, wanted, capacity);
            EXPECT_EQ(some.count, all.count);
            for (std::uint32_t i = 0; i < some.spans.size(); ++i)
                expect_span(some.spans[i], all.spans[i].label, all.spans[i].score, all.spans[i].begin,
                            all.spans[i].end);
        }
    }
}

}  // namespace
}  // namespace etch
