// SPDX-License-Identifier: Apache-2.0
// Attention within a window beside rows that all of a text sees: against doubles, and bit for bit on every set, in any
// tiles and blocks; which rows these are.
#include "attention_cases.hpp"

namespace etch::testing {
namespace {

constexpr std::uint32_t kWindow = 3;
constexpr std::int32_t kSeparator = 9;

// Of texts one behind the other, each in its panels of the caches.
template <class Heads>
std::vector<float> attend(const KernelSet& set, const Sizes& sizes, const Texts& texts, const Rows& rows,
                          const GlobalPart& global, std::uint32_t tile_rows, std::uint32_t block_rows) {
    const std::uint32_t width = sizes.heads * sizes.head_width;
    const std::uint32_t key_width = sizes.key_heads * sizes.head_width;
    const TextRows& end = texts.texts[texts.count - 1];
    const HeadShape shape{set.packing, sizes.heads,     sizes.head_width,    sizes.max_tokens,
                          tile_rows,   sizes.key_heads, end.place + end.keys};
    Heads heads(shape, global_scratch_bytes(shape, global.most));
    const OpContext context{set, heads.scratch.data()};
    Rows in = rows;
    const RowBlock all{0, texts.rows()};
    run(typename Heads::PackKeys{shape, all, texts, {in.key.data(), key_width}, heads.keys()}, context, 1);
    run(typename Heads::PackValues{shape, all, texts, {in.value.data(), key_width}, heads.values()}, context, 1);
    std::vector<float> out(rows.query.size(), NAN);
    for (const RowBlock block : RowBlocks(texts.rows(), block_rows)) {
        const typename Heads::GlobalAttention op{
            {shape, score_scale(sizes), block, texts, F32Rows{in.query.data(), width}.from(block.first), heads.keys(),
             heads.values(), F32Rows{out.data(), width}.from(block.first)},
            {AttentionMask::window, kWindow, nullptr},
            global};
        EXPECT_EQ(op.units(), op.attention.units());
        EXPECT_EQ(op.cost(), op.attention.cost());
        run(op, context, 2);
    }
    return out;
}

class GlobalAttentionOp : public EachSet {
  protected:
    // check(heads, sizes, tokens, rows) for caches of both kinds and every size.
    template <class Check>
    static void for_each_case(Check check) {
        for (const Sizes& sizes : kSizes) {
            for (const std::uint32_t tokens : kTokens) {
                SCOPED_TRACE(::testing::Message() << "head width " << sizes.head_width << ", tokens " << tokens);
                const Rows rows = random_rows(sizes, tokens, tokens);
                check(static_cast<S8Heads*>(nullptr), sizes, tokens, rows);
                check(static_cast<F32Heads*>(nullptr), sizes, tokens, rows);
            }
        }
    }
};
INSTANTIATE_TEST_SUITE_P(Ops, GlobalAttentionOp, ::testing::ValuesIn(usable_sets()), set_name);

// Ids of a text: a separator in its first row, which is none, two in a row, another one in the last row.
std::vector<std::int32_t> ids_of(std::uint32_t tokens, std::uint32_t separator) {
    std::vector<std::int32_t> ids(tokens, 1);
    ids.front() = ids.back() = kSeparator;
    for (std::uint32_t row = separator; row < tokens && row < separator + 2; ++row)
        ids[row] = kSeparator;
    return ids;
}

TEST_P(GlobalAttentionOp, NearDouble) {
    for_each_case([this](auto* kind, const Sizes& sizes, std::uint32_t tokens, const Rows& rows) {
        using Heads = std::remove_pointer_t<decltype(kind)>;
        const TextRows text = whole_text(tokens);
        const std::vector<std::int32_t> late = ids_of(tokens, tokens * 3 / 4);
        const std::vector<std::int32_t> early = ids_of(tokens, 2);
        const GlobalPart parts[] = {{1},
                                    {2},
                                    {16},
                                    {17},
                                    {33},
                                    {sizes.max_tokens, late.data(), kSeparator},
                                    {sizes.max_tokens, late.data(), kSeparator, true},
                                    {sizes.max_tokens, early.data(), kSeparator, true}};
        for (const GlobalPart& global : parts) {
            const RowBlock part = global.of(text);
            const Added added = [part](std::uint32_t, std::uint32_t query, std::uint32_t key) {
                const bool is_global = key >= part.first && key < part.first + part.count;
                return is_global || (key + kWindow >= query && key <= query + kWindow) ? 0.0 : NAN;
            };
            expect_near(attend<Heads>(set(), sizes, {&text, 1}, rows, global, 5, 7),
                        exact(sizes, rows, 0, tokens, added), kTolerance<Heads>);
        }
    });
}

TEST_P(GlobalAttentionOp, EverySetTileAndBlockAsScalar) {
    for_each_case([this](auto* kind, const Sizes& sizes, std::uint32_t tokens, const Rows& rows) {
        using Heads = std::remove_pointer_t<decltype(kind)>;
        const TextRows text = whole_text(tokens);
        const std::vector<std::int32_t> ids = ids_of(tokens, tokens * 2 / 3);
        for (const GlobalPart& global : {GlobalPart{18}, GlobalPart{sizes.max_tokens, ids.data(), kSeparator, true}}) {
            const std::vector<float> want =
                attend<Heads>(scalar(Packing::panel), sizes, {&text, 1}, rows, global, 64, 1000);
            for (const std::uint32_t tile_rows : {1u, 4u, 64u}) {
                for (const std::uint32_t block_rows : {1u, 6u, 1000u}) {
                    const std::vector<float> got =
                        attend<Heads>(set(), sizes, {&text, 1}, rows, global, tile_rows, block_rows);
                    ASSERT_TRUE(same_bits(got, want)) << tile_rows << ' ' << block_rows;
                }
            }
        }
    });
}

// Each text has the global rows that its own ids say, and the bits that it has by itself.
TEST_P(GlobalAttentionOp, TextsOfABatchByThemselves) {
    for_each_case([this](auto* kind, const Sizes& sizes, std::uint32_t tokens, const Rows& rows) {
        using Heads = std::remove_pointer_t<decltype(kind)>;
        if (tokens < 4) return;
        const std::uint32_t first = tokens / 2 - 1;
        const auto room = static_cast<std::uint32_t>(round_up(first, kPanelWidth));
        const TextRows texts[] = {whole_text(first), whole_text(tokens - first, first, room)};
        std::vector<std::int32_t> ids = ids_of(first, 3);
        const std::vector<std::int32_t> others = ids_of(tokens - first, 2);
        ids.insert(ids.end(), others.begin(), others.end());
        const auto part = [&](const std::vector<float>& all, bool second) {
            const auto cut = all.begin() + static_cast<std::ptrdiff_t>(all.size() / tokens * first);
            return second ? std::vector<float>(cut, all.end()) : std::vector<float>(all.begin(), cut);
        };
        for (const bool behind : {false, true}) {
            const GlobalPart global{sizes.max_tokens, ids.data(), kSeparator, behind};
            const std::vector<float> got = attend<Heads>(set(), sizes, {texts, 2}, rows, global, 5, 7);
            for (const bool second : {false, true}) {
                const TextRows alone = whole_text(second ? tokens - first : first);
                const Rows own{part(rows.query, second), part(rows.key, second), part(rows.value, second)};
                const GlobalPart of_own{sizes.max_tokens, ids.data() + (second ? first : 0), kSeparator, behind};
                const std::vector<float> want = attend<Heads>(set(), sizes, {&alone, 1}, own, of_own, 64, 1000);
                ASSERT_TRUE(same_bits(want, part(got, second))) << behind;
            }
        }
    });
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> listed(const GlobalRows& global) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> found;
    for (const RowBlock rows : global)
        found.emplace_back(rows.first, rows.count);
    EXPECT_EQ(found.size(), global.texts());
    return found;
}

TEST(GlobalRows, AreThoseOfABlock) {
    using Found = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
    const TextRows rows[] = {whole_text(5), whole_text(1, 5, 16), whole_text(6, 6, 32)};
    const Texts texts{rows, 3};
    EXPECT_EQ(listed({texts, {0, 12}, {1}}), (Found{{0, 1}, {5, 1}, {6, 1}}));
    EXPECT_EQ(listed({texts, {0, 12}, {3}}), (Found{{0, 3}, {5, 1}, {6, 3}}));
    EXPECT_EQ(listed({texts, {2, 5}, {3}}), (Found{{2, 1}, {5, 1}, {6, 1}}));
    EXPECT_EQ(listed({texts, {3, 2}, {3}}), Found{});
    EXPECT_EQ(listed({texts, {3, 3}, {3}}), (Found{{5, 1}}));
    EXPECT_EQ(listed({texts.first_rows(), {1, 2}, {3}}), (Found{{1, 1}, {2, 1}}));

    const std::int32_t ids[] = {1, 4, kSeparator, kSeparator, 4, 1, 1, kSeparator, kSeparator, 4, 4, kSeparator};
    const GlobalPart behind{12, ids, kSeparator, true};
    EXPECT_EQ(listed({texts, {0, 12}, behind}), (Found{{4, 1}, {5, 1}, {9, 3}}));
    EXPECT_EQ(listed({texts, {6, 4}, behind}), (Found{{9, 1}}));
    EXPECT_EQ(listed({texts, {6, 3}, behind}), Found{});
    EXPECT_EQ(listed({texts.first_rows(), {0, 3}, behind}), (Found{{1, 1}}));
}

TEST(GlobalPart, IsWhatATextsIdsSay) {
    const auto of = [](const GlobalPart& global, const TextRows& text) {
        const RowBlock rows = global.of(text);
        return std::make_pair(rows.first, rows.count);
    };
    using Found = std::pair<std::uint32_t, std::uint32_t>;
    const std::int32_t ids[] = {1, 4, kSeparator, kSeparator, kSeparator, 4, 4};
    const GlobalPart before{7, ids, kSeparator};
    EXPECT_EQ(of(before, whole_text(7)), Found(0, 2));
    EXPECT_EQ(of(before, whole_text(2)), Found(0, 2));     // it has no separator
    EXPECT_EQ(of(before, whole_text(1, 2)), Found(0, 1));  // the first row is one in any case
    EXPECT_EQ(of(before, whole_text(3, 4)), Found(0, 3));
    const GlobalPart behind{7, ids, kSeparator, true};
    EXPECT_EQ(of(behind, whole_text(7)), Found(4, 3));
    EXPECT_EQ(of(behind, whole_text(5)), Found(4, 1));
    EXPECT_EQ(of(behind, whole_text(3)), Found(2, 1));  // the last row is one in any case
    EXPECT_EQ(of(behind, whole_text(1)), Found(0, 1));
    EXPECT_EQ(of(GlobalPart{2}, whole_text(1)), Found(0, 1));
    EXPECT_EQ(of(GlobalPart{2}, whole_text(3)), Found(0, 2));
}

}  // namespace
}  // namespace etch::testing
