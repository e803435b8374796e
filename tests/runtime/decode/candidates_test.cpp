// SPDX-License-Identifier: Apache-2.0
// The best of a vocabulary: against a softmax in double precision, and against the definition worked out by hand; what
// the pipeline of `transformers` finds is compared with whole models
// (tests/end_to_end/tasks/test_fill_mask_programs.py).
#include "etch/decode/candidates.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "etch/kernels.hpp"

namespace etch {
namespace {

struct Best {
    std::vector<std::uint32_t> entries;
    std::vector<float> probabilities;
};

Best best_of(std::vector<float> logits, std::uint32_t k, std::uint32_t block = kVocabularyBlock,
             ScoredEntry* scored = nullptr) {
    const OpContext context{*best_kernels(kPanelKernels), nullptr};
    const auto count = static_cast<std::uint32_t>(logits.size());
    std::vector<float> sums(2);
    std::vector<float> row(2 * k);
    for (const RowBlock part : RowBlocks(count, block)) {
        const bool last = part.first + part.count == count;
        const F32Rows of_part{logits.data() + part.first, part.count};
        InlineRunner{context}(KeepBest{1, part, last, of_part, {sums.data(), 2}, {row.data(), 2 * k}, scored});
    }
    return {{row.begin(), row.begin() + k}, {row.begin() + k, row.end()}};
}

TEST(Candidates, AreThoseOfASoftmaxInDoublePrecision) {
    for (const std::uint32_t count : {1u, 5u, 511u, 512u, 513u, 2000u}) {
        std::mt19937 random(count);
        std::normal_distribution<float> normal(0.0f, 4.0f);
        std::vector<float> logits(count);
        for (float& logit : logits)
            logit = normal(random);
        const std::uint32_t k = std::min(count, 16u);
        const Best found = best_of(logits, k);
        std::vector<std::uint32_t> order(count);
        std::iota(order.begin(), order.end(), 0u);
        std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return logits[a] > logits[b]; });
        double sum = 0;
        for (const float logit : logits)
            sum += std::exp(static_cast<double>(logit));
        for (std::uint32_t i = 0; i < k; ++i) {
            EXPECT_EQ(found.entries[i], order[i]);
            EXPECT_NEAR(found.probabilities[i], std::exp(static_cast<double>(logits[order[i]])) / sum, 2e-6);
        }
    }
}

TEST(Candidates, LogProbabilitiesAreThoseOfDoublePrecision) {
    for (const std::uint32_t count : {1u, 2u, 513u, 40000u}) {
        std::mt19937 random(count);
        std::normal_distribution<float> normal(0.0f, 6.0f);
        std::vector<float> logits(count);
        for (float& logit : logits)
            logit = normal(random);
        logits[0] = -200.0f;  // whose probability is no float any more
        double sum = 0;
        for (const float logit : logits)
            sum += std::exp(static_cast<double>(logit));
        for (const std::uint32_t entry : {0u, count / 2, count - 1}) {
            ScoredEntry scored{static_cast<std::int32_t>(entry), 0, 0};
            best_of(logits, 1, kVocabularyBlock, &scored);
            const double meant = static_cast<double>(logits[entry]) - std::log(sum);
            EXPECT_NEAR(scored.log_probability, meant, 3e-6 * std::max(1.0, std::abs(meant))) << count << " " << entry;
        }
    }
    ScoredEntry none{-1, 0, 7};
    best_of({1, 2, 3}, 1, 2, &none);
    EXPECT_EQ(none.log_probability, 7);
}

TEST(Candidates, OfEqualOnesTheFirst) {
    const Best found = best_of({1, 3, 3, 2, 3, 2}, 5, 5);
    EXPECT_EQ(found.entries, (std::vector<std::uint32_t>{1, 2, 4, 3, 5}));
    EXPECT_EQ(best_of(std::vector<float>(1200, -2.5f), 3).entries, (std::vector<std::uint32_t>{0, 1, 2}));
}

TEST(Candidates, FarBelowTheLargestIsNothing) {
    const Best found = best_of({-1e9f, 0.0f, 1e9f, 3.0f}, 2, 2);
    EXPECT_EQ(found.entries, (std::vector<std::uint32_t>{2, 3}));
    EXPECT_EQ(found.probabilities, (std::vector<float>{1.0f, 0.0f}));
}

TEST(Candidates, OfMasksWhereTheyAre) {
    constexpr std::int32_t kMask = 9;
    const std::int32_t ids[] = {9, 1, 9, 2, 9, 9, 9, 3};
    std::uint32_t rows[8];
    const std::vector<std::pair<TextRows, std::vector<std::uint32_t>>> cases = {{whole_text(4), {0, 2}},
                                                                                {whole_text(3, 4), {4, 5, 6}},
                                                                                {whole_text(1, 7), {}},
                                                                                {whole_text(8), {0, 2, 4, 5, 6}}};
    for (const auto& [text, wanted] : cases) {
        note_masks(ids, text, kMask, rows);
        const MaskRows found = masks_of(text, rows);
        EXPECT_EQ(std::vector<std::uint32_t>(found.rows, found.rows + found.count), wanted);
    }
}

TEST(Candidates, OneMaskIsNoted) {
    for (const TextRows& text : {whole_text(4, 2), whole_text(1, 5)}) {
        std::uint32_t rows[8] = {};
        note_mask(text, text.count - 1, rows);
        const MaskRows found = masks_of(text, rows);
        EXPECT_EQ(std::vector<std::uint32_t>(found.rows, found.rows + found.count), (std::vector<std::uint32_t>{5}));
        EXPECT_EQ(rows[6], 0u);  // of another text
    }
}

TEST(Candidates, AsManyAsThereIsRoomFor) {
    std::vector<float> rows{4, 5, 0.5f, 0.25f, 6, 7, 0.75f, 0.125f};
    const F32Rows best{rows.data(), 4};
    const Candidate none{-1, -1.0f};
    for (const std::uint32_t capacity : {0u, 1u, 2u, 3u}) {
        for (const std::uint32_t top : {0u, 1u, 2u, 3u}) {
            std::vector<Candidate> found(3 * 3 + 1, none);
            EXPECT_EQ(copy_candidates(best, 2, found.data(), capacity, top), std::min(top, 2u));
            std::uint32_t written = 0;
            for (const Candidate& candidate : found)
                written += candidate.id != -1 ? 1u : 0u;
            EXPECT_EQ(written, std::min(capacity, 2u) * std::min(top, 2u));
            if (capacity == 3 && top > 0) {
                EXPECT_EQ(found[top].id, 6);
                EXPECT_EQ(found[top].probability, 0.75f);
            }
        }
    }
}

}  // namespace
}  // namespace etch
