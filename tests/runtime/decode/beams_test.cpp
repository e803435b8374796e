// SPDX-License-Identifier: Apache-2.0
// Which beams go on where scores are equal, and which slots and rows they take. Whole searches are compared with the
// generator's emulation (tests/end_to_end).
#include "etch/decode/beams.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "etch/kernels.hpp"

namespace etch {
namespace {

constexpr std::uint32_t kVocabulary = 9;
constexpr std::uint32_t kTokens = 4;
constexpr std::int32_t kEnd = 0;
constexpr float kLengths[kTokens] = {1, 2, 3, 4};

struct Search {
    TargetRules rules{kVocabulary, kTokens, 1, nullptr, &kEnd, 1, false, nullptr, 0};
    std::uint32_t most = kTokens;  // that a call may write
    SearchRules search{3, Stopping::estimate, kLengths};
    std::int32_t ids[kTokens * 3] = {};
    std::uint8_t parents[kTokens * 3] = {};
    Beams beams{};

    Search() { begin_beams(3, 5, beams); }

    // One pass whose logits are these for each row, after as many rows of the caches as that takes.
    void pass(std::vector<float> logits) {
        const OpContext context{*best_kernels(kPanelKernels), nullptr};
        const NextTokens next{rules, most, {0, kVocabulary}, {logits.data(), kVocabulary}, beams};
        next.run(context, 0, next.units());
        ContinueBeams{rules, search, most, 16, beams, {ids, parents}}.run(context, 0, 1);
    }
};

// All rows alike, token `best` first, `second` next, the end last.
std::vector<float> rows(std::uint32_t count, std::size_t best, std::size_t second) {
    std::vector<float> logits(std::size_t{count} * kVocabulary, 1.0f);
    for (std::size_t row = 0; row < count; ++row) {
        logits[row * kVocabulary] = -9.0f;
        logits[row * kVocabulary + best] = 5.0f;
        logits[row * kVocabulary + second] = 4.0f;
    }
    return logits;
}

// Each beam has one that goes on where all ends are better than what does not end.
TEST(Beams, GoOnBehindSeveralEnds) {
    constexpr std::int32_t ends[] = {0, 5, 7, 8};
    Search one;
    one.rules.ends = ends;
    one.rules.end_count = 4;
    one.search.stopping = Stopping::longest;
    one.pass({4.0f, 1.0f, 2.0f, 3.0f, 0.5f, 5.0f, 0.0f, 6.0f, 4.5f});
    ASSERT_EQ(one.beams.found, 3u);
    EXPECT_EQ(one.beams.ended[0].last, 7);
    EXPECT_EQ(one.beams.ended[1].last, 5);
    EXPECT_EQ(one.beams.ended[2].last, 8);  // 0 is no longer among as many as there are beams
    EXPECT_EQ(one.beams.ended[2].ended, Ended::end);
    ASSERT_FALSE(one.beams.done);
    EXPECT_EQ(one.beams.tokens[0], 3);
    EXPECT_EQ(one.beams.tokens[1], 2);
    EXPECT_EQ(one.beams.tokens[2], 1);

    Search early;  // the ends may not come yet
    early.rules = one.rules;
    early.rules.least_tokens = 1;
    early.pass({4.0f, 1.0f, 2.0f, 3.0f, 0.5f, 5.0f, 0.0f, 6.0f, 4.5f});
    EXPECT_EQ(early.beams.found, 0u);
    EXPECT_EQ(early.beams.tokens[0], 3);
    EXPECT_EQ(early.beams.tokens[1], 2);
    EXPECT_EQ(early.beams.tokens[2], 1);
}

TEST(Beams, OfEqualScoresTheLowerIdThenTheLowerBeam) {
    Search one;
    one.pass(rows(1, 4, 6));
    ASSERT_EQ(one.beams.active, 3u);
    EXPECT_EQ(one.beams.tokens[0], 4);
    EXPECT_EQ(one.beams.tokens[1], 6);
    EXPECT_EQ(one.beams.tokens[2], 1);
    EXPECT_EQ(one.beams.texts[0].count, 3u);
    EXPECT_EQ(one.beams.copies, 2u);  // all rows, to the slots that have none
    EXPECT_EQ(one.beams.copied[1].to, 32u);
    EXPECT_EQ(one.beams.copied[1].first, 0u);
    EXPECT_EQ(one.beams.copied[1].last, 1u);
    for (float& score : one.beams.scores)
        score = -1.0f;
    one.pass(rows(3, 7, 2));
    EXPECT_EQ(one.beams.copies, 0u);
    for (std::uint32_t i = 0; i < 3; ++i) {
        EXPECT_EQ(one.beams.tokens[i], 7);
        EXPECT_EQ(one.parents[3 + i], i);
        EXPECT_EQ(one.beams.rows[i].place, 16 * i);
        EXPECT_EQ(one.beams.rows[i].position, 2u);
    }
}

TEST(Beams, OnlyRowsThatDifferAreCopied) {
    Search one;
    one.pass(rows(1, 4, 6));
    std::vector<float> logits = rows(3, 7, 2);
    for (float& score : one.beams.scores)
        score = -1.0f;
    one.beams.scores[1] = 0.0f;
    one.pass(logits);  // twice the second beam, which leaves no room for the last one
    EXPECT_EQ(one.parents[3], 1u);
    EXPECT_EQ(one.parents[4], 0u);
    EXPECT_EQ(one.parents[5], 1u);
    ASSERT_EQ(one.beams.copies, 1u);
    EXPECT_EQ(one.beams.copied[0].from, 16u);
    EXPECT_EQ(one.beams.copied[0].to, 32u);
    EXPECT_EQ(one.beams.copied[0].first, 1u);  // behind what the target begins with
    EXPECT_EQ(one.beams.copied[0].last, 2u);
}

TEST(Beams, AnEndIsKeptAndTheSearchGoesOn) {
    Search one;
    one.pass(rows(1, kEnd, 3));
    EXPECT_EQ(one.beams.found, 1u);
    EXPECT_EQ(one.beams.ended[0].length, 1u);
    EXPECT_EQ(one.beams.ended[0].ended, Ended::end);
    EXPECT_EQ(one.beams.tokens[0], 3);
    EXPECT_FALSE(one.beams.done);
    std::int32_t ids[kTokens] = {};
    ids_of(one.beams.ended[0], one.search, {one.ids, one.parents}, ids);
    EXPECT_EQ(ids[0], kEnd);
}

// What two beams have in common is looked up behind the first token, too.
TEST(Beams, OnlyRowsBehindACommonTokenAreCopied) {
    Search one;
    one.pass(rows(1, 4, 6));
    const float scores[][3] = {{-1.0f, 0.0f, -1.0f}, {-2.0f, -1.5f, 0.0f}};  // the second is continued twice, the third
    for (const auto& of_beams : scores) {
        std::copy_n(of_beams, 3, one.beams.scores);
        one.pass(rows(3, 7, 2));
    }
    ASSERT_EQ(one.beams.copies, 1u);
    EXPECT_EQ(one.beams.copied[0].first, 2u);
    EXPECT_EQ(one.beams.copied[0].last, 3u);
}

TEST(Beams, WhenTheSearchIsOver) {
    for (const Stopping stopping : {Stopping::at_once, Stopping::estimate, Stopping::longest}) {
        Search one;
        one.search.stopping = stopping;
        one.pass(rows(1, 4, 6));
        for (float& score : one.beams.scores)
            score = -1.0f;
        one.pass(rows(3, kEnd, 2));
        ASSERT_EQ(one.beams.found, 3u);
        EXPECT_EQ(one.beams.done, stopping != Stopping::longest);  // four tokens could have a better mean
        std::int32_t ids[kTokens] = {};
        ids_of(one.beams.ended[2], one.search, {one.ids, one.parents}, ids);
        EXPECT_EQ(ids[0], 1);
        EXPECT_EQ(ids[1], kEnd);
    }
}

TEST(Beams, TheBestEndsAreKeptInTheirOrder) {
    Search one;
    one.search.stopping = Stopping::longest;
    one.pass(rows(1, kEnd, 3));
    const float first = one.beams.ended[0].score;
    one.beams.scores[0] = 0.0f;
    one.beams.scores[1] = -0.1f;
    one.beams.scores[2] = -9.0f;
    one.pass(rows(3, kEnd, 3));  // both are better by the mean of two tokens
    ASSERT_EQ(one.beams.found, 3u);
    EXPECT_EQ(one.beams.ended[0].score, first / 2);
    EXPECT_LT(one.beams.ended[1].score, first / 2);
    EXPECT_EQ(one.beams.ended[2].score, first);
    EXPECT_FALSE(one.beams.done);
    const float second = one.beams.ended[1].score;
    one.beams.scores[0] = 0.0f;
    one.beams.scores[1] = -2.0f;
    one.beams.scores[2] = -9.0f;
    one.pass(rows(3, kEnd, 3));  // one is better than all, another worse
    ASSERT_EQ(one.beams.found, 3u);
    EXPECT_GT(one.beams.ended[0].score, first / 2);
    EXPECT_EQ(one.beams.ended[1].score, first / 2);
    EXPECT_EQ(one.beams.ended[2].score, second);
    EXPECT_TRUE(one.beams.done);
    ContinueBeams{one.rules, one.search, kTokens, 16, one.beams, {one.ids, one.parents}}.run(
        {*best_kernels(kPanelKernels), {}}, 0, 0);
    EXPECT_EQ(one.beams.found, 3u);  // no unit
}

TEST(Beams, WhatHasNoRoomForMoreEndsByItsLength) {
    for (const std::uint32_t most : {kTokens, kTokens - 2}) {
        for (const auto& [forced, best] : {std::pair(false, kEnd), {false, 4}, {true, kEnd}, {true, 4}}) {
            Search one;
            one.most = most;
            one.rules.forced_end = forced;
            for (std::uint32_t i = 0; i + 1 < most; ++i)
                one.pass(rows(one.beams.active, 4, 6));
            ASSERT_FALSE(one.beams.done);
            one.pass(rows(3, static_cast<std::size_t>(best), 6));
            ASSERT_TRUE(one.beams.done);
            EXPECT_EQ(one.beams.found, 3u);
            EXPECT_EQ(one.beams.ended[0].length, most);
            EXPECT_EQ(one.beams.ended[0].last, forced ? kEnd : best);
            EXPECT_EQ(one.beams.ended[0].ended, best == kEnd && !forced ? Ended::end : Ended::length);
        }
    }
}

// Of each beam its own tokens count, and log-probabilities are those of before.
TEST(Beams, RestrictionsOfWhatABeamHasWritten) {
    Restrictions penalty{};
    penalty.repetition_penalty = 2.0f;
    const std::int32_t begin[] = {8};
    Search one;
    one.pass(rows(1, 4, 6));
    for (float& score : one.beams.scores)
        score = -1.0f;
    one.pass(rows(3, 7, 2));
    one.rules.restrictions = &penalty;
    std::vector<float> logits(std::size_t{3} * kVocabulary, 1.0f);
    std::vector<std::int32_t> history(std::size_t{3} * kTokens);
    const OpContext context{*best_kernels(kPanelKernels), nullptr};
    const F32Rows all{logits.data(), kVocabulary};
    const RestrictBeams restrict {one.rules, one.search, {one.ids, one.parents}, begin, 1, history.data(),
                                  all,       one.beams};
    restrict.run(context, 0, restrict.units());
    const float one_of_nine = -std::log(9.0f);
    for (std::size_t row = 0; row < 3; ++row) {
        for (std::int32_t id = 0; id < static_cast<std::int32_t>(kVocabulary); ++id) {
            const bool is_there = id == 8 || id == 7 || id == one.ids[row];
            const float meant = is_there ? 1.0f + one_of_nine : 1.0f;
            EXPECT_NEAR(logits[row * kVocabulary + static_cast<std::size_t>(id)], meant, 1e-5f) << row << " " << id;
        }
    }
    for (const bool renormalize : {false, true}) {
        one.rules.renormalize = renormalize;
        const float score = one.beams.scores[0];
        NextTokens{one.rules, kTokens, {0, kVocabulary}, all, one.beams}.run(context, 0, 3);
        const float among = renormalize ? -std::log(6.0f + 3.0f / 9.0f) : one_of_nine;
        EXPECT_NEAR(one.beams.next[0][0].score, score + among, 1e-5f);
    }
}

}  // namespace
}  // namespace etch
