// SPDX-License-Identifier: Apache-2.0
// Rows that become fewer and stand for all tokens again, against their header's formulas: texts of every length, as a
// batch, in pieces of any order.
#include "etch/ops/pool_rows.hpp"

#include <cmath>

#include "support.hpp"
#include "text_lengths.hpp"
#include "units.hpp"

namespace etch::testing {
namespace {

constexpr std::uint32_t kLongest = 12;
constexpr std::uint32_t kWidth = kPanelWidth + 5;
constexpr RowPooling kPoolings[] = {{PooledBy::mean, true, true},     {PooledBy::mean, true, false},
                                    {PooledBy::mean, false, false},   {PooledBy::maximum, true, true},
                                    {PooledBy::maximum, true, false}, {PooledBy::maximum, false, false}};

std::vector<float> random_rows(std::uint32_t rows) {
    return Random(kSeed).floats(rows * kWidth, 2.0f);
}

// The pairs as the library makes them: the first row twice, then all (but the last), two and two.
std::vector<std::vector<float>> expected(const RowPooling& pooling, std::vector<std::vector<float>> rows) {
    if (rows.size() <= (pooling.apart ? 2u : 1u)) return rows;
    if (pooling.apart) {
        if (pooling.cut) rows.pop_back();
        rows.insert(rows.begin(), rows[0]);
    }
    std::vector<std::vector<float>> found;
    for (std::size_t i = 0; i < rows.size(); i += 2) {
        std::vector<float> row = rows[i];
        for (std::size_t c = 0; c < row.size() && i + 1 < rows.size(); ++c) {
            const float other = rows[i + 1][c];
            row[c] = pooling.by == PooledBy::mean ? (row[c] + other) * 0.5f : std::max(row[c], other);
        }
        found.push_back(row);
    }
    return found;
}

std::vector<std::vector<float>> rows_of(const std::vector<float>& values, const TextRows& text) {
    std::vector<std::vector<float>> found;
    for (std::uint32_t i = 0; i < text.count; ++i) {
        const auto begin = values.begin() + static_cast<std::ptrdiff_t>((text.first + i) * kWidth);
        found.emplace_back(begin, begin + kWidth);
    }
    return found;
}

template <class Op>
void run_backwards(const Op& op) {
    op.run({*usable_sets()[0], nullptr}, 0, 0);  // a worker without a part
    testing::run_backwards(op, {*usable_sets()[0], nullptr});
}

TEST(PoolRows, MakesOneRowOfTwoInPlaceLevelByLevel) {
    for (const RowPooling& pooling : kPoolings) {
        std::vector<TextRows> rows = texts_up_to(kLongest);
        Texts texts{rows.data(), static_cast<std::uint32_t>(rows.size())};
        std::vector<float> values = random_rows(texts.rows());
        for (int level = 0; level < 3; ++level) {
            std::vector<TextRows> next(rows.size());
            const Texts pooled = pooled_texts(pooling, texts, next.data());
            std::vector<std::vector<std::vector<float>>> want;
            for (const TextRows& text : rows)
                want.push_back(expected(pooling, rows_of(values, text)));
            run_backwards(PoolRows{pooling, texts, pooled, {values.data(), kWidth}});
            std::uint32_t first = 0;
            for (std::size_t t = 0; t < next.size(); ++t) {
                EXPECT_EQ(next[t].first, first);
                EXPECT_EQ(next[t].place, rows[t].place);
                EXPECT_EQ(next[t].keys, next[t].count);
                EXPECT_EQ(rows_of(values, next[t]), want[t]) << rows[t].count << " rows, level " << level;
                first += next[t].count;
            }
            rows = next;
            texts.texts = rows.data();
        }
    }
}

TEST(PoolRows, QueriesMayBeOnKeysOfTheLevelBefore) {
    const std::vector<TextRows> rows = texts_up_to(kLongest);
    const Texts texts{rows.data(), static_cast<std::uint32_t>(rows.size())};
    std::vector<TextRows> next(rows.size());
    std::vector<TextRows> both(rows.size());
    const Texts pooled = pooled_texts(kPoolings[0], texts, next.data());
    const Texts on = on_keys_of(texts, pooled, both.data());
    EXPECT_EQ(on.rows(), pooled.rows());
    for (std::size_t t = 0; t < rows.size(); ++t) {
        EXPECT_EQ(both[t].count, next[t].count);
        EXPECT_EQ(both[t].keys, rows[t].count);
        EXPECT_EQ(both[t].place, rows[t].place);
    }
}

TEST(PoolRows, ARowStandsAtTheFirstOfItsTokens) {
    for (const RowPooling& pooling : kPoolings) {
        std::vector<std::uint32_t> tokens = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
        for (std::uint32_t level = 1; level < 3; ++level) {
            std::vector<std::uint32_t> left;
            const auto count = static_cast<std::uint32_t>(tokens.size());
            for (std::uint32_t row = 0; row < pooled_count(pooling, count); ++row) {
                left.push_back(tokens[first_pooled(pooling, row)]);
                EXPECT_EQ(token_of(pooling, level, row), left.back());
            }
            tokens = left;
        }
    }
}

TEST(Upsample, AddsTheRowThatStandsForAToken) {
    for (const RowPooling& pooling : kPoolings) {
        const std::vector<TextRows> rows = texts_up_to(kLongest);
        const Texts texts{rows.data(), static_cast<std::uint32_t>(rows.size())};
        std::vector<TextRows> once(rows.size());
        std::vector<TextRows> twice(rows.size());
        const Texts level_1 = pooled_texts(pooling, texts, once.data());
        const Texts level_2 = pooled_texts(pooling, level_1, twice.data());
        std::vector<float> input = random_rows(level_2.rows());
        const std::vector<float> before = Random(kSeed + 1).floats(texts.rows() * kWidth, 2.0f);
        std::vector<float> out = before;
        run_backwards(Upsample{pooling, 2, texts, level_2, {input.data(), kWidth}, {out.data(), kWidth}});
        for (std::size_t t = 0; t < rows.size(); ++t) {
            for (std::uint32_t i = 0; i < rows[t].count; ++i) {
                // The first row for itself, each other one four times.
                const std::uint32_t from = pooling.apart ? (i + 3) / 4 : i / 4;
                for (std::uint32_t c = 0; c < kWidth; ++c) {
                    const float own = before[(rows[t].first + i) * kWidth + c];
                    const bool has = from < twice[t].count;
                    const float want = has ? input[(twice[t].first + from) * kWidth + c] + own : own;
                    EXPECT_EQ(out[(rows[t].first + i) * kWidth + c], want) << rows[t].count << ", row " << i;
                }
            }
        }
    }
}

TEST(CopyRows, AreTheSame) {
    std::vector<float> input = random_rows(5);
    std::vector<float> out(input.size(), NAN);
    run_backwards(CopyRows{5, {input.data(), kWidth}, {out.data(), kWidth}});
    EXPECT_EQ(out, input);
}

}  // namespace
}  // namespace etch::testing
