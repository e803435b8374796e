// SPDX-License-Identifier: Apache-2.0
// Rows of groups of tokens, and what takes from both, against their header's words: texts of every length, as a batch,
// in blocks and pieces of any order.
#include "etch/ops/row_groups.hpp"

#include "support.hpp"
#include "text_lengths.hpp"

namespace etch::testing {
namespace {

constexpr std::uint32_t kLongest = 17;
constexpr std::uint32_t kWidth = 5;
constexpr std::uint32_t kRates[] = {1, 2, 3, 4, 7};

using Row = std::vector<float>;

struct Case {
    explicit Case(std::uint32_t every) : rate(every), tokens(texts_up_to(kLongest)), groups(tokens.size()) {
        texts = {tokens.data(), static_cast<std::uint32_t>(tokens.size())};
        grouped = grouped_texts(rate, texts, groups.data());
        of_tokens = Random(kSeed).floats(texts.rows() * kWidth, 2.0f);
        of_groups = Random(kSeed + 1).floats(grouped.rows() * kWidth, 2.0f);
    }
    Row token(std::uint32_t text, std::uint32_t row) const { return row_of(of_tokens, tokens[text].first + row); }
    Row group(std::uint32_t text, std::uint32_t row) const { return row_of(of_groups, groups[text].first + row); }
    static Row row_of(const std::vector<float>& values, std::uint32_t row) {
        const auto begin = values.begin() + static_cast<std::ptrdiff_t>(row * kWidth);
        return {begin, begin + kWidth};
    }

    std::uint32_t rate;
    std::vector<TextRows> tokens;
    std::vector<TextRows> groups;
    Texts texts{};
    Texts grouped{};
    std::vector<float> of_tokens;
    std::vector<float> of_groups;
};

void append(Row& row, const Row& more) {
    row.insert(row.end(), more.begin(), more.end());
}

// What op_of(block, its rows) makes of `rows` rows, in blocks of three sizes, each row by itself and the last first.
template <class OpOf>
std::vector<std::vector<float>> made(std::uint32_t rows, const std::vector<float>& before, OpOf op_of) {
    std::vector<std::vector<float>> found;
    const std::size_t width = before.size() / rows;
    for (const std::uint32_t most : {1u, 4u, rows}) {
        std::vector<float> out = before;
        for (std::uint32_t first = 0; first < rows; first += most) {
            const RowBlock block{first, rows - first < most ? rows - first : most};
            const auto op = op_of(block, F32Rows{out.data() + first * width, static_cast<std::uint32_t>(width)});
            op.run({*usable_sets()[0], nullptr}, 0, 0);  // a worker without a part
            for (std::uint32_t unit = op.units(); unit-- > 0;)
                op.run({*usable_sets()[0], nullptr}, unit, unit + 1);
        }
        found.push_back(out);
    }
    return found;
}

TEST(GroupedTexts, HaveARowForEveryGroupOfTokens) {
    for (const std::uint32_t rate : kRates) {
        const Case a(rate);
        std::uint32_t first = 0;
        for (std::uint32_t text = 0; text < a.tokens.size(); ++text) {
            const std::uint32_t whole = a.tokens[text].count / rate;
            EXPECT_EQ(a.groups[text].count, whole == 0 ? 1 : whole);
            EXPECT_EQ(a.groups[text].keys, a.groups[text].count);
            EXPECT_EQ(a.groups[text].first, first);
            EXPECT_EQ(a.groups[text].place, a.tokens[text].place);
            first += a.groups[text].count;
        }
        EXPECT_EQ(a.grouped.rows(), first);
    }
}

TEST(GroupRows, HaveTheTokensOfTheGroupSideBySideBehindARowOfZeros) {
    for (const std::uint32_t rate : kRates) {
        const Case a(rate);
        std::vector<float> want;
        for (std::uint32_t text = 0; text < a.groups.size(); ++text) {
            append(want, Row(rate * kWidth));
            for (std::uint32_t group = 1; group < a.groups[text].count; ++group) {
                for (std::uint32_t i = 0; i < rate; ++i)
                    append(want, a.token(text, (group - 1) * rate + i));
            }
        }
        const auto op_of = [&](RowBlock block, F32Rows out) {
            return GroupRows{rate, block, a.texts, a.grouped, {const_cast<float*>(a.of_tokens.data()), kWidth}, out};
        };
        for (const auto& found : made(a.grouped.rows(), std::vector<float>(want.size(), 7.0f), op_of))
            EXPECT_EQ(found, want) << rate;
    }
}

TEST(FirstRow, IsThatOfTheFirstToken) {
    const Case a(3);
    std::vector<float> want;
    for (std::uint32_t text = 0; text < a.groups.size(); ++text) {
        append(want, a.token(text, 0));
        for (std::uint32_t group = 1; group < a.groups[text].count; ++group)
            append(want, a.group(text, group));
    }
    const auto op_of = [&](RowBlock block, F32Rows out) {
        return FirstRow{block, a.texts, a.grouped, {const_cast<float*>(a.of_tokens.data()), kWidth}, out};
    };
    for (const auto& found : made(a.grouped.rows(), a.of_groups, op_of))
        EXPECT_EQ(found, want);
}

TEST(SpreadRows, HaveTheTokensAroundAndTheirGroups) {
    for (const std::uint32_t rate : kRates) {
        for (const std::uint32_t taps : {1u, 2u, 4u, 5u}) {
            for (std::uint32_t before = 0; before < taps; ++before) {
                const Case a(rate);
                std::vector<float> want;
                for (std::uint32_t text = 0; text < a.tokens.size(); ++text) {
                    const std::uint32_t last = a.groups[text].count - 1;
                    for (std::int64_t token = 0; token < a.tokens[text].count; ++token) {
                        for (std::int64_t at = token - before; at < token - before + taps; ++at) {
                            const bool there = at >= 0 && at < a.tokens[text].count;
                            const auto t = static_cast<std::uint32_t>(there ? at : 0);
                            append(want, there ? a.token(text, t) : Row(kWidth));
                            append(want, there ? a.group(text, std::min(t / rate + 1, last)) : Row(kWidth));
                        }
                    }
                }
                const auto op_of = [&](RowBlock block, F32Rows out) {
                    const F32Rows rows{const_cast<float*>(a.of_tokens.data()), kWidth};
                    const F32Rows groups{const_cast<float*>(a.of_groups.data()), kWidth};
                    return SpreadRows{rate, taps, before, block, a.texts, a.grouped, rows, groups, out};
                };
                for (const auto& found : made(a.texts.rows(), std::vector<float>(want.size(), 7.0f), op_of))
                    EXPECT_EQ(found, want) << rate << ", " << taps << " taps, " << before << " before";
            }
        }
    }
}

// The most rows that texts at `place` and behind it have, of a batch that has room for `capacity` tokens.
std::uint32_t most_behind(std::uint32_t rate, std::uint32_t place, std::uint32_t capacity) {
    std::vector<std::uint32_t> most(capacity + kPanelWidth, 0);
    for (std::uint32_t at = capacity; at-- > place;)
        for (std::uint32_t count = 1; count <= capacity - at; ++count)
            most[at] = std::max(most[at], grouped_count(rate, count) + most[at + round_up(count, kPanelWidth)]);
    return most[place];
}

TEST(MostGroups, HoldsEveryBatch) {
    for (const std::uint32_t rate : kRates) {
        for (const std::uint32_t capacity : {1u, 2u, 5u, 15u, 16u, 17u, 26u, 31u, 33u, 64u, 70u, 100u}) {
            EXPECT_LE(most_behind(rate, 0, capacity), most_groups(rate, capacity)) << rate << " of " << capacity;
            EXPECT_LE(most_groups(rate, capacity), capacity);
        }
    }
}

TEST(RowOfToken, IsThatOfTheFirstOneOrOfTheText) {
    const Case a(3);
    std::vector<std::int32_t> ids(a.texts.rows(), 1);
    std::vector<float> want;
    for (std::uint32_t text = 0; text < a.tokens.size(); ++text) {
        const std::uint32_t count = a.tokens[text].count;
        const std::uint32_t at = text % 3 == 0 ? 0 : count / 2;  // of every third text there is none
        for (std::uint32_t i = at; i < count && text % 3 != 0; i += 3)
            ids[a.tokens[text].first + i] = 7;
        for (std::uint32_t i = 0; i < count; ++i)
            append(want, a.token(text, at));
    }
    const auto op_of = [&](RowBlock block, F32Rows out) {
        const F32Rows rows{const_cast<float*>(a.of_tokens.data()), kWidth};
        return RowOfToken{7, block, a.texts, ids.data(), rows, out};
    };
    for (const auto& found : made(a.texts.rows(), std::vector<float>(want.size(), 9.0f), op_of))
        EXPECT_EQ(found, want);
}

}  // namespace
}  // namespace etch::testing
