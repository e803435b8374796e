// SPDX-License-Identifier: Apache-2.0
// Which beams go on where scores are equal, and which slots and rows they take. Whole searches are compared with the
// generator's emulation (tests/end_to_end).
#include "etch/decode/beams.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "etch/kernels.hpp"

namespace etch {
namespace {

constexpr std::uint32_t kVocabulary = 9;
constexpr std::uint32_t kTokens = 4;
constexpr std::int32_t kEnd = 0;
constexpr float kLengths[kTokens] = {1, 2, 3, 4};

struct Search {
    TargetRules rules{kVocabulary, kTokens, 1, nullptr, kEnd, false, nullptr, 0};
    SearchRules search{3, Stopping::estimate, kLengths};
    std::int32_t ids[kTokens * 3] = {};
    std::uint8_t parents[kTokens * 3] = {};
    Beams beams{};

    Search() { begin_beams(3, 5, beams); }

    // One pass whose logits are these for each row, after as many rows of the caches as that takes.
    void pass(std::vector<float> logits) {
        const OpContext context{*best_kernels(Packing::panel), nullptr};
        const NextTokens next{rules, beams.active, {logits.data(), kVocabulary}, beams};
        next.run(context, 0, next.units());
        ContinueBeams{rules, search, 16, beams, {ids, parents}}.run(context, 0, 1);
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

TEST(Beams, OfEqualScoresTheLowerIdThenTheLowerBeam) {
    Search one;
    one.pass(rows(1, 4, 6));
    ASSERT_EQ(one.beams.active, 3u);
    EXPECT_EQ(one.beams.tokens[0], 4);
    EXPECT_EQ(one.beams.tokens[1], 6);
    EXPECT_EQ(one.beams.tokens[2], 1);
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

}  // namespace
}  // namespace etch
