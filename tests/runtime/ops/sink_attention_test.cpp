// SPDX-License-Identifier: Apache-2.0
// Attention with a sink: against doubles, bit for bit on every set, in any tiles and blocks, row by row as of a whole
// text, and without a sink that weighs anything.
#include "attention_cases.hpp"

namespace etch::testing {
namespace {

constexpr std::uint32_t kWindow = 4;
const ScoreBias kBiases[] = {{AttentionMask::causal, 0, nullptr}, {AttentionMask::past, kWindow, nullptr}};

// Of each head, times log2(e): such that weigh less than a key, as much, and far more than all.
std::vector<float> sinks_of(const Sizes& sizes) {
    const float some[] = {0.5f, -2.0f, 9.0f, 3.0f};
    return {some, some + sizes.heads};
}

// The keys of one text, and attention to them.
template <class Heads>
class Text {
  public:
    Text(const KernelSet& set, const Sizes& sizes, std::uint32_t tile_rows)
        : set_(set),
          sizes_(sizes),
          shape_{set.packing, sizes.heads,     sizes.head_width, sizes.max_tokens,
                 tile_rows,   sizes.key_heads, sizes.max_tokens},
          heads_(shape_, sink_scratch_bytes(shape_)) {}

    // Rows [first, first + count) of a text behind those that are there.
    std::vector<float> attend(const Rows& rows, std::uint32_t first, std::uint32_t count, const ScoreBias& bias,
                              const std::vector<float>* sinks, std::uint32_t block_rows = 7) {
        const std::uint32_t width = sizes_.heads * sizes_.head_width;
        const std::uint32_t key_width = sizes_.key_heads * sizes_.head_width;
        const TextRows text{0, count, first, first + count, 0};
        const Texts texts{&text, 1};
        std::vector<float> key = part(rows.key, key_width, first, count);
        std::vector<float> value = part(rows.value, key_width, first, count);
        std::vector<float> query = part(rows.query, width, first, count);
        const OpContext context{set_, heads_.scratch.data()};
        const RowBlock all{0, count};
        run(typename Heads::PackKeys{shape_, all, texts, {key.data(), key_width}, heads_.keys()}, context, 1);
        run(typename Heads::PackValues{shape_, all, texts, {value.data(), key_width}, heads_.values()}, context, 1);
        std::vector<float> out(query.size(), NAN);
        for (const RowBlock block : RowBlocks(count, block_rows)) {
            const typename Heads::Attention op{shape_,
                                               score_scale(sizes_),
                                               block,
                                               texts,
                                               F32Rows{query.data(), width}.from(block.first),
                                               heads_.keys(),
                                               heads_.values(),
                                               F32Rows{out.data(), width}.from(block.first)};
            if (sinks == nullptr) {
                run(typename Heads::BiasedAttention{op, bias}, context, 2);
                continue;
            }
            const typename Heads::SinkAttention with_sinks{op, {bias, sinks->data()}};
            EXPECT_EQ(with_sinks.units(), op.units());
            EXPECT_EQ(with_sinks.cost(), op.cost());
            run(with_sinks, context, 2);
        }
        return out;
    }

  private:
    static std::vector<float> part(const std::vector<float>& rows, std::uint32_t width, std::uint32_t first,
                                   std::uint32_t count) {
        const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(first * width);
        return {begin, begin + static_cast<std::ptrdiff_t>(count * width)};
    }

    const KernelSet& set_;
    Sizes sizes_;
    HeadShape shape_;
    Heads heads_;
};

class SinkAttentionOp : public EachSet {
  protected:
    // check(heads, sizes, tokens, rows, bias) for caches of both kinds, every size and mask.
    template <class Check>
    static void for_each_case(Check check) {
        for (const Sizes& sizes : kSizes) {
            for (const std::uint32_t tokens : kTokens) {
                for (const ScoreBias& bias : kBiases) {
                    SCOPED_TRACE(::testing::Message() << "head width " << sizes.head_width << ", tokens " << tokens);
                    const Rows rows = random_rows(sizes, tokens, tokens);
                    check(static_cast<S8Heads*>(nullptr), sizes, tokens, rows, bias);
                    check(static_cast<F32Heads*>(nullptr), sizes, tokens, rows, bias);
                }
            }
        }
    }
};
INSTANTIATE_TEST_SUITE_P(Ops, SinkAttentionOp, ::testing::ValuesIn(usable_sets()), set_name);

TEST_P(SinkAttentionOp, NearDouble) {
    for_each_case(
        [this](auto* kind, const Sizes& sizes, std::uint32_t tokens, const Rows& rows, const ScoreBias& bias) {
            using Heads = std::remove_pointer_t<decltype(kind)>;
            const std::vector<float> sinks = sinks_of(sizes);
            const Added added = [&](std::uint32_t, std::uint32_t query, std::uint32_t key) {
                const bool is_near = bias.mask == AttentionMask::causal || key + kWindow >= query;
                return key <= query && is_near ? 0.0 : NAN;
            };
            const std::vector<double> weights(sinks.begin(), sinks.end());
            const std::vector<float> got = Text<Heads>(set(), sizes, 5).attend(rows, 0, tokens, bias, &sinks);
            expect_near(got, exact(sizes, rows, 0, tokens, added, 1e30, weights.data()), kTolerance<Heads>);
        });
}

TEST_P(SinkAttentionOp, EverySetAndTileAsScalar) {
    for_each_case(
        [this](auto* kind, const Sizes& sizes, std::uint32_t tokens, const Rows& rows, const ScoreBias& bias) {
            using Heads = std::remove_pointer_t<decltype(kind)>;
            const std::vector<float> sinks = sinks_of(sizes);
            const std::vector<float> want =
                Text<Heads>(scalar(Packing::panel), sizes, 64).attend(rows, 0, tokens, bias, &sinks, 1000);
            for (const std::uint32_t tile_rows : {1u, 4u, 64u}) {
                Text<Heads> text(set(), sizes, tile_rows);
                for (const std::uint32_t block_rows : {1u, 6u, 1000u})
                    ASSERT_TRUE(same_bits(text.attend(rows, 0, tokens, bias, &sinks, block_rows), want)) << tile_rows;
            }
        });
}

TEST_P(SinkAttentionOp, RowByRowAsAllAtOnce) {
    for_each_case(
        [this](auto* kind, const Sizes& sizes, std::uint32_t tokens, const Rows& rows, const ScoreBias& bias) {
            using Heads = std::remove_pointer_t<decltype(kind)>;
            const std::vector<float> sinks = sinks_of(sizes);
            const std::vector<float> want = Text<Heads>(set(), sizes, 5).attend(rows, 0, tokens, bias, &sinks);
            Text<Heads> text(set(), sizes, 1);
            std::vector<float> got;
            for (std::uint32_t row = 0; row < tokens; ++row) {
                const std::vector<float> of_row = text.attend(rows, row, 1, bias, &sinks);
                got.insert(got.end(), of_row.begin(), of_row.end());
            }
            ASSERT_TRUE(same_bits(got, want));
        });
}

TEST_P(SinkAttentionOp, ASinkThatWeighsNothingIsNone) {
    for_each_case([this](auto* kind, const Sizes& sizes, std::uint32_t tokens, const Rows& rows,
                         const ScoreBias& bias) {
        using Heads = std::remove_pointer_t<decltype(kind)>;
        const std::vector<float> sinks(sizes.heads, -0x1p100f);
        Text<Heads> text(set(), sizes, 5);
        ASSERT_TRUE(same_bits(text.attend(rows, 0, tokens, bias, &sinks), text.attend(rows, 0, tokens, bias, nullptr)));
    });
}

}  // namespace
}  // namespace etch::testing
