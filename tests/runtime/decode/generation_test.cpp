// SPDX-License-Identifier: Apache-2.0
#include "etch/decode/generation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "etch/kernels.hpp"

namespace etch {
namespace {

constexpr std::int32_t kEnds[] = {0, 1, 3};

struct Chosen {
    std::int32_t token = -1;
    float log_probability = 1;
};

// Behind `count` tokens, with so many logits at a time.
Chosen chosen(const TargetRules& rules, std::vector<float> logits, std::uint32_t count = 0,
              const KernelSet& kernels = *best_kernels(kPanelKernels), std::uint32_t at_once = 1U << 20) {
    Writing writing{};
    writing.count = count;
    Chosen found;
    for (const RowBlock entries : RowBlocks(rules.vocabulary, at_once)) {
        const BestToken op{rules, entries, logits.data() + entries.first, writing, &found.token};
        op.run({kernels, nullptr}, 0, op.units());
    }
    found.log_probability = writing.added;
    return found;
}

std::int32_t best(const std::vector<float>& logits, const std::vector<std::int32_t>& never) {
    const TargetRules rules{static_cast<std::uint32_t>(logits.size()), 4, 0, nullptr, kEnds, 1, false, never.data(),
                            static_cast<std::uint32_t>(never.size())};
    const Chosen found = chosen(rules, logits);
    EXPECT_LE(found.log_probability, 0.0f);
    return found.token;
}

TEST(BestToken, TheLowestOfEquals) {
    EXPECT_EQ(best({-3.0f}, {}), 0);
    EXPECT_EQ(best({-3.0f, 2.0f, 2.0f, -1.0f, 2.0f}, {}), 1);
    EXPECT_EQ(best({-0.0f, 0.0f}, {}), 0);
}

TEST(BestToken, SomeAreNeverWritten) {
    EXPECT_EQ(best({5.0f, 2.0f, 4.0f, 4.0f}, {0}), 2);
    EXPECT_EQ(best({5.0f, 2.0f, 4.0f, 4.0f}, {0, 2, 3}), 1);
    EXPECT_EQ(best({5.0f, -std::numeric_limits<float>::max()}, {0}), 1);
}

// Whatever part of a vocabulary they lie in.
TEST(BestToken, LargeVocabularies) {
    for (const std::size_t size : {64, 65, 200, 1000}) {
        std::vector<float> logits(size);
        for (std::size_t i = 0; i < size; ++i)
            logits[i] = static_cast<float>(i * 37 % 101) * 0.25f - 99.0f;
        EXPECT_EQ(best(logits, {}), 30);  // the first of those with 100
        std::vector<std::int32_t> never;
        for (std::size_t i = 0; i < size; ++i)
            if (i * 37 % 101 >= 50 && i != size - 3) never.push_back(static_cast<std::int32_t>(i));
        logits[size - 3] = 5.0f;
        EXPECT_EQ(best(logits, never), static_cast<std::int32_t>(size - 3));
        logits[size - 3] = -500.0f;
        EXPECT_EQ(best(logits, never), 45);  // the first with 49
    }
}

TEST(BestToken, LogProbabilityOfAllTokensOrOfThoseThatMayBeWritten) {
    const std::int32_t never[] = {0};
    const KernelSet* scalar = nullptr;
    ASSERT_EQ(find_kernels(kPanelKernels, "scalar", scalar), Status::ok);
    for (const KernelSet* kernels : {scalar, best_kernels(kPanelKernels)}) {
        for (const bool renormalize : {false, true}) {
            const TargetRules rules{3, 4, 0, nullptr, kEnds, 1, false, never, 1, renormalize};
            const Chosen found = chosen(rules, {3.0f, 1.0f, 1.0f}, 0, *kernels);
            EXPECT_EQ(found.token, 1);
            EXPECT_NEAR(found.log_probability,
                        renormalize ? -std::log(2.0) : 1.0 - std::log(std::exp(3.0) + 2 * std::exp(1.0)), 1e-6);
        }
    }
}

TEST(BestToken, TheEndComesBehindSoManyTokens) {
    const TargetRules rules{3, 4, 0, nullptr, kEnds + 1, 1, false, nullptr, 0, false, 2};
    for (std::uint32_t count = 0; count < 4; ++count) {
        EXPECT_EQ(chosen(rules, {1.0f, 3.0f, 2.0f}, count).token, count < 2 ? 2 : 1);
    }
}

TEST(BestToken, NoneOfSeveralEndsComesBefore) {
    const TargetRules rules{4, 4, 0, nullptr, kEnds, 3, false, nullptr, 0, true, 2};
    for (std::uint32_t count = 0; count < 4; ++count) {
        const Chosen found = chosen(rules, {1.0f, 2.0f, 0.0f, 3.0f}, count);
        EXPECT_EQ(found.token, count < 2 ? 2 : 3);
        EXPECT_EQ(found.log_probability == 0.0f, count < 2);  // it alone may be written
    }
}

// The bits are those of all logits at once, whatever may not be written, and where nothing of a block may be.
TEST(BestToken, SomeBlocksOfLogitsAtATime) {
    constexpr std::uint32_t kSize = 5 * kVocabularyBlock + 7;
    constexpr std::int32_t last = kSize - 1;
    std::vector<float> logits(kSize);
    for (std::size_t i = 0; i < kSize; ++i)
        logits[i] = static_cast<float>(i * 7919 % 10007) * 0.002f - 9.0f;
    std::vector<std::int32_t> never(kVocabularyBlock + 3);
    for (std::size_t i = 0; i < never.size(); ++i)
        never[i] = static_cast<std::int32_t>(i);
    for (const std::uint32_t count : {0U, std::uint32_t(never.size())}) {
        for (const bool renormalize : {false, true}) {
            const TargetRules rules{kSize, 4, 0, nullptr, &last, 1, false, never.data(), count, renormalize, 1};
            const Chosen whole = chosen(rules, logits);
            double sum = 0;
            for (std::size_t i = renormalize ? count : 0; i < kSize - (renormalize ? 1 : 0); ++i)
                sum += std::exp(double{logits[i]});
            EXPECT_NEAR(whole.log_probability, logits[static_cast<std::size_t>(whole.token)] - std::log(sum), 1e-5);
            for (const std::uint32_t blocks : {1U, 2U, 5U}) {
                const Chosen found = chosen(rules, logits, 0, *best_kernels(kPanelKernels), blocks * kVocabularyBlock);
                EXPECT_EQ(found.token, whole.token);
                EXPECT_EQ(found.log_probability, whole.log_probability);
            }
        }
    }
}

TEST(EntriesAtOnce, FitTheLogitsOfOneRowOrABlockOfEach) {
    for (const std::uint32_t vocabulary : {1U, 300U, 512U, 1000U, 5000U, 32000U, 250002U}) {
        EXPECT_EQ(entries_at_once(vocabulary, 1), vocabulary);
        for (std::uint32_t rows = 2; rows <= 8; ++rows) {
            const std::uint32_t entries = entries_at_once(vocabulary, rows);
            EXPECT_EQ(entries % kVocabularyBlock, 0u);
            EXPECT_GT(entries, 0u);
            EXPECT_TRUE(entries == kVocabularyBlock || rows * entries <= vocabulary);
        }
    }
}

TEST(HideTokens, OnesThatAreNeverWrittenAndAnEarlyEnd) {
    const std::int32_t never[] = {0};
    const TargetRules rules{3, 4, 0, nullptr, kEnds + 1, 1, false, never, 1, false, 2};
    const OpContext context{*best_kernels(kPanelKernels), nullptr};
    for (std::uint32_t count = 0; count < 4; ++count) {
        float logits[] = {1.0f, 3.0f, 2.0f};
        const HideTokens op{rules, count, logits};
        op.run(context, 0, 0);
        EXPECT_EQ(logits[0], 1.0f);
        op.run(context, 0, op.units());
        EXPECT_EQ(logits[0], -0x1p100f);
        EXPECT_EQ(logits[1], count < 2 ? -0x1p100f : 3.0f);
        EXPECT_EQ(logits[2], 2.0f);
    }
}

TEST(BestToken, NoUnitsWriteNothing) {
    const TargetRules rules{};
    std::int32_t token = 7;
    Writing writing{};
    BestToken{rules, {0, 0}, nullptr, writing, &token}.run({*best_kernels(kPanelKernels), nullptr}, 0, 0);
    EXPECT_EQ(token, 7);
}

}  // namespace
}  // namespace etch
