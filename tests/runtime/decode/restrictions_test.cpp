// SPDX-License-Identifier: Apache-2.0
// What may not be written next, by hand; whole generations are compared with the generator's emulation
// (tests/end_to_end).
#include "etch/decode/restrictions.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "etch/kernels.hpp"

namespace etch {
namespace {

constexpr float kNotThere = -0x1p100f;

using Ids = std::vector<std::int32_t>;

// The logits -2, -1, 0, 1, 2, 3 behind the tokens `begin` and `written`.
std::vector<float> restricted(const Restrictions& restrictions, const Ids& begin, const Ids& written,
                              float shift = 0.0f) {
    std::vector<float> logits = {-2, -1, 0, 1, 2, 3};
    const auto size = [](const Ids& ids) { return static_cast<std::uint32_t>(ids.size()); };
    restrict_logits(restrictions, {begin.data(), size(begin), written.data(), size(written)}, shift, logits.data());
    return logits;
}

// Those that are not there any more.
Ids hidden(const Restrictions& restrictions, const Ids& begin, const Ids& written) {
    Ids found;
    const std::vector<float> logits = restricted(restrictions, begin, written);
    for (std::size_t id = 0; id < logits.size(); ++id)
        if (logits[id] == kNotThere) found.push_back(static_cast<std::int32_t>(id));
    return found;
}

TEST(Restrictions, AreOneUnitOfAnOp) {
    Restrictions penalty{};
    penalty.repetition_penalty = 2.0f;
    const std::int32_t before[] = {5};
    std::vector<float> logits = {-2, -1, 0, 1, 2, 3};
    const RestrictLogits op{penalty, {before, 1, nullptr, 0}, logits.data()};
    const OpContext context{*best_kernels(kPanelKernels), nullptr};
    ASSERT_EQ(op.units(), 1u);
    op.run(context, 0, 0);
    op.run(context, 1, 1);
    EXPECT_EQ(logits, (std::vector<float>{-2, -1, 0, 1, 2, 3}));
    op.run(context, 0, 1);
    EXPECT_EQ(logits, (std::vector<float>{-2, -1, 0, 1, 2, 1.5f}));
}

TEST(Restrictions, ATokenIsPenalizedOnceHoweverOftenItIsThere) {
    Restrictions penalty{};
    penalty.repetition_penalty = 2.0f;
    EXPECT_EQ(restricted(penalty, {}, {}), (std::vector<float>{-2, -1, 0, 1, 2, 3}));
    EXPECT_EQ(restricted(penalty, {0, 5}, {4, 5, 0, 5}), (std::vector<float>{-4, -1, 0, 1, 1, 1.5f}));
    EXPECT_EQ(restricted(penalty, {1}, {5}, 4.0f), (std::vector<float>{-2, -6, 0, 1, 2, 2}));  // log-probabilities
}

TEST(Restrictions, NoRunOfSoManyTokensComesTwice) {
    Restrictions pairs{};
    pairs.repetition_penalty = 1.0f;
    pairs.no_repeat = 2;
    EXPECT_EQ(hidden(pairs, {}, {}), Ids{});
    EXPECT_EQ(hidden(pairs, {}, {3}), Ids{});
    EXPECT_EQ(hidden(pairs, {3}, {4, 3}), Ids{4});
    EXPECT_EQ(hidden(pairs, {}, {3, 4, 3, 5, 3}), (Ids{4, 5}));
    pairs.no_repeat = 3;
    EXPECT_EQ(hidden(pairs, {1}, {2, 4, 5, 2}), Ids{});
    EXPECT_EQ(hidden(pairs, {1}, {2, 4, 1, 2}), Ids{4});
    pairs.no_repeat = 1;
    EXPECT_EQ(hidden(pairs, {1}, {2}), (Ids{1, 2}));
}

TEST(Restrictions, AWordIsNotEndedWhereItsFirstTokensStand) {
    const std::int32_t words[] = {2, 3, 5, 3, 1, 2, 4};  // [3 5] and [1 2 4]
    Restrictions bad{};
    bad.repetition_penalty = 1.0f;
    bad.words = words;
    bad.word_count = 2;
    EXPECT_EQ(hidden(bad, {}, {}), Ids{});
    EXPECT_EQ(hidden(bad, {}, {2}), Ids{});
    EXPECT_EQ(hidden(bad, {1}, {2}), Ids{4});
    EXPECT_EQ(hidden(bad, {1}, {2, 3}), Ids{5});
    EXPECT_EQ(hidden(bad, {2}, {1, 1}), Ids{});
}

TEST(Restrictions, SomeTokensAreNeverTheFirstOne) {
    const std::int32_t not_first[] = {0, 3};
    Restrictions first{};
    first.repetition_penalty = 1.0f;
    first.not_first = not_first;
    first.not_first_count = 2;
    EXPECT_EQ(hidden(first, {1, 2}, {}), (Ids{0, 3}));
    EXPECT_EQ(hidden(first, {1, 2}, {4}), Ids{});
}

}  // namespace
}  // namespace etch
