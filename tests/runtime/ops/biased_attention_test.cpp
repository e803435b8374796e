// SPDX-License-Identifier: Apache-2.0
// Attention with masks, a bias by relative position, grouped queries, queries and keys that differ in number, and
// caches that grow: against doubles, and bit for bit against other ways to say the same.
#include "attention_cases.hpp"

namespace etch::testing {
namespace {

constexpr float kNotSeen = -0x1p100f;

// How attention is called: as it is, with a bias, or with that and a cap.
template <class Heads>
class Caller {
  public:
    Caller(const KernelSet& set, const Sizes& sizes, std::uint32_t cache_tokens, std::uint32_t tile_rows = 5)
        : set_(set),
          sizes_(sizes),
          shape_{set.packing, sizes.heads,     sizes.head_width, sizes.max_tokens,
                 tile_rows,   sizes.key_heads, cache_tokens},
          heads_(shape_) {}

    void append(const Texts& texts, const std::vector<float>& key, const std::vector<float>& value) {
        const std::uint32_t width = sizes_.key_heads * sizes_.head_width;
        std::vector<float> k = key;
        std::vector<float> v = value;
        const RowBlock all{0, texts.rows()};
        run(typename Heads::PackKeys{shape_, all, texts, {k.data(), width}, heads_.keys()}, context(), 1);
        run(typename Heads::PackValues{shape_, all, texts, {v.data(), width}, heads_.values()}, context(), 1);
    }

    std::vector<float> attend(const Texts& texts, const std::vector<float>& query, const ScoreBias* bias = nullptr,
                              std::uint32_t block_rows = 7, const SoftCap* cap = nullptr) {
        const std::uint32_t width = sizes_.heads * sizes_.head_width;
        std::vector<float> q = query;
        std::vector<float> out(query.size(), NAN);
        for (const RowBlock block : RowBlocks(texts.rows(), block_rows)) {
            const typename Heads::Attention op{shape_,
                                               score_scale(sizes_),
                                               block,
                                               texts,
                                               F32Rows{q.data(), width}.from(block.first),
                                               heads_.keys(),
                                               heads_.values(),
                                               F32Rows{out.data(), width}.from(block.first)};
            if (bias == nullptr) {
                run(op, context(), 2);
            } else if (cap != nullptr) {
                const typename Heads::CappedAttention capped{op, *bias, *cap};
                EXPECT_EQ(capped.units(), op.units());
                EXPECT_EQ(capped.cost(), op.cost());
                run(capped, context(), 2);
            } else {
                const typename Heads::BiasedAttention biased{op, *bias};
                EXPECT_EQ(biased.units(), op.units());
                EXPECT_EQ(biased.cost(), op.cost());
                run(biased, context(), 2);
            }
        }
        return out;
    }

    // One text, its keys all at once.
    std::vector<float> whole(const Rows& rows, const TextRows& text, const ScoreBias* bias = nullptr,
                             const SoftCap* cap = nullptr) {
        const TextRows keys = whole_text(text.keys, 0, text.place);
        append({&keys, 1}, rows.key, rows.value);
        return attend({&text, 1}, rows.query, bias, 7, cap);
    }

  private:
    OpContext context() { return {set_, heads_.scratch.data()}; }

    const KernelSet& set_;
    Sizes sizes_;
    HeadShape shape_;
    Heads heads_;
};

double nothing(std::uint32_t, std::uint32_t, std::uint32_t) {
    return 0;
}

// A bias by relative position, as it is and as a table.
struct Table {
    std::uint32_t max_tokens;
    std::vector<float> values;

    explicit Table(const Sizes& sizes, float scale)
        : max_tokens(sizes.max_tokens), values(Random(4).floats(sizes.heads * (2 * sizes.max_tokens - 1), scale)) {}
    Table(const Sizes& sizes, const std::function<bool(std::int64_t)>& seen)
        : max_tokens(sizes.max_tokens), values(sizes.heads * (2 * sizes.max_tokens - 1)) {
        for (std::size_t i = 0; i < values.size(); ++i) {
            const auto distance = static_cast<std::int64_t>(i % (2 * max_tokens - 1)) - (max_tokens - 1);
            values[i] = seen(distance) ? 0.0f : kNotSeen;
        }
    }
    double at(std::uint32_t head, std::uint32_t query, std::uint32_t key) const {
        return values[head * (2 * max_tokens - 1) + key + max_tokens - 1 - query];
    }
};

const AttentionMask kMasks[] = {AttentionMask::none, AttentionMask::causal, AttentionMask::window, AttentionMask::past,
                                AttentionMask::blocks};

class BiasedAttentionOp : public EachSet {
  protected:
    // check(heads, sizes, tokens) for caches of both kinds and every size.
    template <class Check>
    static void for_each_case(Check check) {
        for (const Sizes& sizes : kSizes) {
            for (const std::uint32_t tokens : kTokens) {
                SCOPED_TRACE(::testing::Message() << "head width " << sizes.head_width << ", tokens " << tokens);
                check(static_cast<S8Heads*>(nullptr), sizes, tokens);
                check(static_cast<F32Heads*>(nullptr), sizes, tokens);
            }
        }
    }
    template <class Heads>
    std::vector<float> whole(const Sizes& sizes, const Rows& rows, const TextRows& text,
                             const ScoreBias* bias = nullptr) const {
        return Caller<Heads>(set(), sizes, sizes.max_tokens).whole(rows, text, bias);
    }
};
INSTANTIATE_TEST_SUITE_P(Ops, BiasedAttentionOp, ::testing::ValuesIn(usable_sets()), set_name);

TEST_P(BiasedAttentionOp, GroupedQueriesReadTheirKeyHead) {
    for_each_case([this](auto* kind, const Sizes& sizes, std::uint32_t tokens) {
        using Heads = std::remove_pointer_t<decltype(kind)>;
        const Rows rows = random_rows(sizes, tokens, tokens);
        const TextRows text = whole_text(tokens);
        const std::vector<float> got = whole<Heads>(sizes, rows, text);
        expect_near(got, exact(sizes, rows, 0, tokens, nothing), kTolerance<Heads>);

        Sizes repeated = sizes;  // every query head has a copy of its keys and values
        repeated.key_heads = sizes.heads;
        Rows copies{rows.query, {}, {}};
        for (std::uint32_t row = 0; row < tokens; ++row) {
            for (std::uint32_t column = 0; column < sizes.heads * sizes.head_width; ++column) {
                const std::uint32_t head = column / sizes.head_width / (sizes.heads / sizes.key_heads);
                const std::size_t from =
                    (std::size_t{row} * sizes.key_heads + head) * sizes.head_width + column % sizes.head_width;
                copies.key.push_back(rows.key[from]);
                copies.value.push_back(rows.value[from]);
            }
        }
        ASSERT_TRUE(same_bits(got, whole<Heads>(repeated, copies, text)));
    });
}

TEST_P(BiasedAttentionOp, ABiasOfZerosIsNone) {
    for_each_case([this](auto* kind, const Sizes& sizes, std::uint32_t tokens) {
        using Heads = std::remove_pointer_t<decltype(kind)>;
        const Rows rows = random_rows(sizes, tokens, tokens);
        const TextRows text = whole_text(tokens);
        const Table zeros(sizes, 0.0f);
        const ScoreBias none;
        const ScoreBias of_zeros{AttentionMask::none, 0, zeros.values.data()};
        const ScoreBias wide{AttentionMask::window, tokens, nullptr};
        const std::vector<float> want = whole<Heads>(sizes, rows, text);
        for (const ScoreBias& bias : {none, of_zeros, wide})
            ASSERT_TRUE(same_bits(whole<Heads>(sizes, rows, text, &bias), want));
    });
}

TEST_P(BiasedAttentionOp, NearDouble) {
    for_each_case([this](auto* kind, const Sizes& sizes, std::uint32_t tokens) {
        using Heads = std::remove_pointer_t<decltype(kind)>;
        const Rows rows = random_rows(sizes, tokens, tokens);
        const TextRows text = whole_text(tokens);
        const Table table(sizes, 3.0f);
        for (const AttentionMask mask : kMasks) {
            for (const bool with_table : {false, true}) {
                const ScoreBias bias{mask, 3, with_table ? table.values.data() : nullptr};
                const Added added = [&](std::uint32_t head, std::uint32_t query, std::uint32_t key) {
                    const bool near = key + 3 >= query && key <= query + 3;
                    const bool seen = mask == AttentionMask::none     ? true
                                      : mask == AttentionMask::causal ? key <= query
                                      : mask == AttentionMask::window ? near
                                      : mask == AttentionMask::blocks ? key / 3 == query / 3
                                                                      : near && key <= query;
                    return !seen ? NAN : with_table ? table.at(head, query, key) : 0.0;
                };
                expect_near(whole<Heads>(sizes, rows, text, &bias), exact(sizes, rows, 0, tokens, added),
                            kTolerance<Heads>);
            }
        }
    });
}

// A mask is a bias of -2^100 at the distances that are not seen; keys that a whole tile does not see are left out.
TEST_P(BiasedAttentionOp, AMaskIsABiasThatLeavesNothing) {
    for_each_case([this](auto* kind, const Sizes& sizes, std::uint32_t tokens) {
        using Heads = std::remove_pointer_t<decltype(kind)>;
        const Rows rows = random_rows(sizes, tokens, tokens);
        const TextRows text = whole_text(tokens);
        const Table causal(sizes, [](std::int64_t distance) { return distance <= 0; });
        const ScoreBias by_mask{AttentionMask::causal, 0, nullptr};
        const ScoreBias by_table{AttentionMask::none, 0, causal.values.data()};
        ASSERT_TRUE(same_bits(whole<Heads>(sizes, rows, text, &by_mask), whole<Heads>(sizes, rows, text, &by_table)));
        for (const std::uint32_t window : {0u, 1u, 5u, 20u}) {
            const Table near(sizes, [window](std::int64_t distance) { return std::abs(distance) <= window; });
            const ScoreBias by_window{AttentionMask::window, window, nullptr};
            const ScoreBias by_near{AttentionMask::none, 0, near.values.data()};
            ASSERT_TRUE(
                same_bits(whole<Heads>(sizes, rows, text, &by_window), whole<Heads>(sizes, rows, text, &by_near)))
                << window;
            const ScoreBias by_past{AttentionMask::past, window, nullptr};
            const ScoreBias by_both{AttentionMask::causal, 0, near.values.data()};
            ASSERT_TRUE(same_bits(whole<Heads>(sizes, rows, text, &by_past), whole<Heads>(sizes, rows, text, &by_both)))
                << window;
        }
    });
}

// Row by row with a growing cache and no mask, at several places at once: the bits of all rows at once with one.
TEST_P(BiasedAttentionOp, ACacheThatGrowsIsACausalMask) {
    for_each_case([this](auto* kind, const Sizes& sizes, std::uint32_t tokens) {
        using Heads = std::remove_pointer_t<decltype(kind)>;
        const Rows rows = random_rows(sizes, tokens, tokens);
        const TextRows text = whole_text(tokens);
        const ScoreBias causal{AttentionMask::causal, 0, nullptr};
        const ScoreBias past{AttentionMask::past, 3, nullptr};
        const std::vector<float> want = whole<Heads>(sizes, rows, text, &causal);
        const std::vector<float> want_past = whole<Heads>(sizes, rows, text, &past);

        constexpr std::uint32_t kBeams = 3;
        const auto room = static_cast<std::uint32_t>(round_up(sizes.max_tokens, kPanelWidth));
        Caller<Heads> beams(set(), sizes, kBeams * room);
        const auto part = [](const std::vector<float>& all, std::size_t width, std::uint32_t row) {
            std::vector<float> rows_of_beams;  // the same in each
            for (std::uint32_t beam = 0; beam < kBeams; ++beam) {
                const auto first = all.begin() + static_cast<std::ptrdiff_t>(row * width);
                rows_of_beams.insert(rows_of_beams.end(), first, first + static_cast<std::ptrdiff_t>(width));
            }
            return rows_of_beams;
        };
        const std::size_t width = std::size_t{sizes.heads} * sizes.head_width;
        const std::size_t key_width = std::size_t{sizes.key_heads} * sizes.head_width;
        for (std::uint32_t row = 0; row < tokens; ++row) {
            TextRows texts[kBeams];
            for (std::uint32_t beam = 0; beam < kBeams; ++beam)
                texts[beam] = {beam, 1, row, row + 1, beam * room};
            beams.append({texts, kBeams}, part(rows.key, key_width, row), part(rows.value, key_width, row));
            const std::vector<float> query = part(rows.query, width, row);
            const std::vector<float> want_row = part(want, width, row);
            ASSERT_TRUE(same_bits(beams.attend({texts, kBeams}, query), want_row)) << row;
            ASSERT_TRUE(same_bits(beams.attend({texts, kBeams}, query, &causal), want_row)) << row;
            const std::vector<float> want_row_past = part(want_past, width, row);
            ASSERT_TRUE(same_bits(beams.attend({texts, kBeams}, query, &past), want_row_past)) << row;
        }
    });
}

// Queries that begin at a later position, or belong to another sequence than the keys.
TEST_P(BiasedAttentionOp, QueriesAndKeysMayDifferInNumber) {
    for_each_case([this](auto* kind, const Sizes& sizes, std::uint32_t tokens) {
        using Heads = std::remove_pointer_t<decltype(kind)>;
        for (const std::uint32_t queries : {1u, 3u, 9u}) {
            const Rows rows = random_rows(sizes, queries, tokens);
            const TextRows across{0, queries, 0, tokens, 0};
            expect_near(whole<Heads>(sizes, rows, across), exact(sizes, rows, 0, tokens, nothing), kTolerance<Heads>);
            if (queries > tokens) continue;
            const std::uint32_t position = tokens - queries;
            const TextRows later{0, queries, position, tokens, 0};
            const Table table(sizes, 3.0f);
            const ScoreBias bias{AttentionMask::causal, 0, table.values.data()};
            const Added added = [&](std::uint32_t head, std::uint32_t query, std::uint32_t key) {
                return key <= query ? table.at(head, query, key) : NAN;
            };
            expect_near(whole<Heads>(sizes, rows, later, &bias), exact(sizes, rows, position, tokens, added),
                        kTolerance<Heads>);
        }
    });
}

// A text by tiles and blocks of several sizes: the bits of the scalar set.
template <class Heads>
void every_tile_as_scalar(const KernelSet& set, const Sizes& sizes, const Rows& rows, const TextRows& text,
                          const ScoreBias& bias, const SoftCap* cap = nullptr) {
    const std::vector<float> want =
        Caller<Heads>(scalar(Packing::panel), sizes, sizes.max_tokens, 64).whole(rows, text, &bias, cap);
    for (const std::uint32_t tile_rows : {1u, 4u, 64u}) {
        Caller<Heads> caller(set, sizes, sizes.max_tokens, tile_rows);
        ASSERT_TRUE(same_bits(caller.whole(rows, text, &bias, cap), want)) << tile_rows;
        for (const std::uint32_t block_rows : {1u, 6u, 1000u})
            ASSERT_TRUE(same_bits(caller.attend({&text, 1}, rows.query, &bias, block_rows, cap), want));
    }
}

TEST_P(BiasedAttentionOp, EverySetAndTileAsScalar) {
    for_each_case([this](auto* kind, const Sizes& sizes, std::uint32_t tokens) {
        using Heads = std::remove_pointer_t<decltype(kind)>;
        const Rows rows = random_rows(sizes, tokens, tokens);
        const TextRows text = whole_text(tokens);
        const Table table(sizes, 3.0f);
        for (const AttentionMask mask : kMasks) {
            const ScoreBias bias{mask, 2, table.values.data()};
            ASSERT_NO_FATAL_FAILURE(every_tile_as_scalar<Heads>(set(), sizes, rows, text, bias));
        }
    });
}

constexpr SoftCap kCap{1.25f, 0.8f};

TEST_P(BiasedAttentionOp, ACapComesBeforeTheBias) {
    for_each_case([this](auto* kind, const Sizes& sizes, std::uint32_t tokens) {
        using Heads = std::remove_pointer_t<decltype(kind)>;
        const Rows rows = random_rows(sizes, tokens, tokens);
        const TextRows text = whole_text(tokens);
        const Table table(sizes, 3.0f);
        for (const bool causal : {false, true}) {
            const ScoreBias bias{causal ? AttentionMask::causal : AttentionMask::none, 0, table.values.data()};
            const Added added = [&](std::uint32_t head, std::uint32_t query, std::uint32_t key) {
                return causal && key > query ? NAN : table.at(head, query, key);
            };
            Caller<Heads> caller(set(), sizes, sizes.max_tokens);
            expect_near(caller.whole(rows, text, &bias, &kCap),
                        exact(sizes, rows, 0, tokens, added, static_cast<double>(kCap.limit)), kTolerance<Heads>);
        }
    });
}

TEST_P(BiasedAttentionOp, EverySetAndTileCapsAsScalar) {
    for_each_case([this](auto* kind, const Sizes& sizes, std::uint32_t tokens) {
        using Heads = std::remove_pointer_t<decltype(kind)>;
        const Rows rows = random_rows(sizes, tokens, tokens);
        const TextRows text = whole_text(tokens);
        const ScoreBias past{AttentionMask::past, 4, nullptr};
        every_tile_as_scalar<Heads>(set(), sizes, rows, text, past, &kCap);
    });
}

}  // namespace
}  // namespace etch::testing
