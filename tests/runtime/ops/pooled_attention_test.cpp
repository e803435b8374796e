// SPDX-License-Identifier: Apache-2.0
// Attention of rows that are pooled: against doubles over tokens as they stand in the text, bit for bit the same on the
// scalar set, however rows, units and texts are cut.
#include "etch/ops/pooled_attention.hpp"

#include "heads.hpp"

namespace etch::testing {
namespace {

constexpr std::uint32_t kHeadCount = 2;
constexpr std::uint32_t kMaxTokens = 40;
constexpr float kLog2E = 1.44269504f;

struct Case {
    RowPooling pooling;
    std::uint32_t level;  // of the queries
    bool halves;          // whether keys are of the level before
    std::uint32_t head_width;

    std::uint32_t width() const { return kHeadCount * head_width; }
    float scale() const { return 1.0f / std::sqrt(static_cast<float>(head_width)); }
    std::uint32_t reach() const { return count_at(level == 0 ? 0 : level - 1, kMaxTokens); }
    std::uint32_t rows() const { return 2 * reach() + 1; }
    std::uint32_t count_at(std::uint32_t of_level, std::uint32_t tokens) const {
        for (; of_level > 0; --of_level)
            tokens = pooled_count(pooling, tokens);
        return tokens;
    }
};

const Case kCases[] = {{{PooledBy::mean, true, true}, 0, false, 16},  {{PooledBy::mean, true, true}, 1, true, 20},
                       {{PooledBy::mean, true, false}, 2, true, 5},   {{PooledBy::mean, true, true}, 2, false, 32},
                       {{PooledBy::mean, false, false}, 1, true, 16}, {{PooledBy::mean, false, false}, 2, false, 7}};
const std::vector<std::uint32_t> kLengths = {1, 2, 3, 5, 12, 33, 40};

struct S8 : S8Heads {
    using S8Heads::S8Heads;
    using Pooled = PooledAttentionS8;
    static constexpr double kTolerance = 0.06;
    static std::size_t scratch_bytes(const HeadShape& s) {
        return std::max(pooled_s8_scratch_bytes(s), pack_s8_scratch_bytes(s));
    }
    struct Table {
        EdgeArray<std::int8_t> packed;
        EdgeArray<float> scales;
        std::uint32_t rows;
        Table(const KernelSet& set, std::uint32_t width, const std::vector<float>& values)
            : packed(kHeadCount * packed_s8_bytes(set.packing,
                                                  static_cast<std::uint32_t>(values.size()) / width / kHeadCount,
                                                  width)),
              scales(values.size() / width),
              rows(static_cast<std::uint32_t>(values.size()) / width / kHeadCount) {
            std::vector<std::int8_t> q(values.size());
            for (std::size_t row = 0; row < scales.size(); ++row)
                scales[row] = set.quantize_row_s8(&values[row * width], width, &q[row * width]);
            for (std::uint32_t head = 0; head < kHeadCount; ++head) {
                const auto first = q.begin() + head * rows * width;
                const auto of_head =
                    pack(set.packing, std::vector<std::int8_t>(first, first + rows * width), rows, width);
                std::memcpy(packed.data() + head * of_head.size(), of_head.data(), of_head.size());
            }
        }
        S8RelativeRows view() const { return {packed.data(), scales.data(), rows}; }
    };
};

struct F32 : F32Heads {
    using F32Heads::F32Heads;
    using Pooled = PooledAttentionF32;
    static constexpr double kTolerance = 3e-6;
    static std::size_t scratch_bytes(const HeadShape& s) { return pooled_f32_scratch_bytes(s); }
    struct Table {
        EdgeArray<float> packed;
        std::uint32_t rows;
        Table(const KernelSet& set, std::uint32_t width, const std::vector<float>& values)
            : packed(kHeadCount * packed_f32_elements(set.packing,
                                                      static_cast<std::uint32_t>(values.size()) / width / kHeadCount,
                                                      width)),
              rows(static_cast<std::uint32_t>(values.size()) / width / kHeadCount) {
            for (std::uint32_t head = 0; head < kHeadCount; ++head) {
                const auto first = values.begin() + head * rows * width;
                const auto of_head = pack(set.packing, std::vector<float>(first, first + rows * width), rows, width);
                std::memcpy(packed.data() + head * of_head.size(), of_head.data(), of_head.size() * sizeof(float));
            }
        }
        F32RelativeRows view() const { return {packed.data(), rows}; }
    };
};

// Texts of some lengths, one behind the other, with the rows of their queries and keys.
struct Batch {
    std::vector<TextRows> tokens, queries, keys;
    std::vector<std::uint8_t> segments;

    Batch(const Case& c, const std::vector<std::uint32_t>& lengths) {
        std::uint32_t place = 0;
        for (const std::uint32_t length : lengths) {
            const auto next = [](const std::vector<TextRows>& rows) {
                return rows.empty() ? 0 : rows.back().first + rows.back().count;
            };
            tokens.push_back(whole_text(length, next(tokens), place));
            keys.push_back(whole_text(c.count_at(c.halves ? c.level - 1 : c.level, length), next(keys), place));
            queries.push_back(whole_text(c.count_at(c.level, length), next(queries), place));
            queries.back().keys = keys.back().count;
            place += static_cast<std::uint32_t>(round_up(length, kPanelWidth));
            for (std::uint32_t i = 0; i < length; ++i)
                segments.push_back(i == 0 ? kSegmentOfAll : i > length / 2 ? 1 : 0);
        }
        cache_tokens = place;
    }
    std::uint32_t cache_tokens = 0;
};

struct Values {
    std::vector<float> query, key, value, relative, segment, bias;

    Values(const Case& c, std::uint32_t rows)
        : query(Random(1).floats(rows * c.width(), 2.0f)),
          key(Random(2).floats(rows * c.width(), 2.0f)),
          value(Random(3).floats(rows * c.width())),
          relative(Random(4).floats(c.rows() * c.width(), 2.0f)),
          segment(Random(5).floats(2 * c.width(), 2.0f)),
          bias(Random(6).floats(2 * kHeadCount * c.rows(), 1.0f)) {}
};

struct Cut {
    std::uint32_t tile_rows = 5;
    std::uint32_t block_rows = 7;
    std::uint32_t at_once = 2;
};

template <class Kind>
std::vector<float> attend(const KernelSet& set, const Case& c, const Batch& batch, Values values, Cut cut = {},
                          bool first_rows = false) {
    const HeadShape shape{set.packing,
                          kHeadCount,
                          c.head_width,
                          kMaxTokens,
                          cut.tile_rows,
                          kHeadCount,
                          std::max(kMaxTokens, batch.cache_tokens)};
    Kind heads(shape);
    const typename Kind::Table relative(set, c.head_width, values.relative);
    const typename Kind::Table segment(set, c.head_width, values.segment);
    const EdgeArray<float> bias(values.bias);
    const EdgeArray<std::uint8_t> segments(batch.segments);
    EdgeArray<std::uint8_t> scratch(round_up(Kind::scratch_bytes(shape), 64), 0x5A);
    const OpContext context{set, scratch.data()};
    const auto count = static_cast<std::uint32_t>(batch.tokens.size());
    const Texts tokens{batch.tokens.data(), count};
    const Texts keyed{batch.keys.data(), count};
    const Texts texts{batch.queries.data(), count, first_rows};
    for (const RowBlock block : RowBlocks(keyed.rows(), cut.block_rows)) {
        const F32Rows key = F32Rows{values.key.data(), c.width()}.from(block.first);
        const F32Rows value = F32Rows{values.value.data(), c.width()}.from(block.first);
        run(typename Kind::PackKeys{shape, block, keyed, key, heads.keys()}, context, 1);
        run(typename Kind::PackValues{shape, block, keyed, value, heads.values()}, context, 1);
    }
    std::vector<float> out(std::size_t{texts.rows()} * c.width(), NAN);
    for (const RowBlock block : RowBlocks(texts.rows(), cut.block_rows)) {
        const typename Kind::Attention op{shape,
                                          kLog2E * c.scale(),
                                          block,
                                          texts,
                                          F32Rows{values.query.data(), c.width()}.from(block.first),
                                          heads.keys(),
                                          heads.values(),
                                          F32Rows{out.data(), c.width()}.from(block.first)};
        const typename Kind::Pooled pooled{
            op, c.pooling, c.level, tokens, segments.data(), relative.view(), segment.view(), bias.data()};
        EXPECT_EQ(pooled.units(), op.units());
        run(pooled, context, cut.at_once);
    }
    return out;
}

std::vector<double> exact(const Case& c, const Batch& batch, const Values& values) {
    const std::uint32_t d = c.head_width;
    std::vector<double> out;
    const auto dot = [d](const float* a, const float* b) {
        double sum = 0;
        for (std::uint32_t i = 0; i < d; ++i)
            sum += double{a[i]} * b[i];
        return sum;
    };
    for (std::size_t t = 0; t < batch.tokens.size(); ++t) {
        const TextRows& queries = batch.queries[t];
        const TextRows& keys = batch.keys[t];
        for (std::uint32_t i = 0; i < queries.count; ++i) {
            std::vector<double> row(c.width());
            for (std::uint32_t head = 0; head < kHeadCount; ++head) {
                const float* const query = &values.query[(queries.first + i) * c.width() + head * d];
                double sum = 0;
                for (std::uint32_t j = 0; j < keys.count; ++j) {
                    const std::size_t at = (keys.first + j) * c.width() + head * d;
                    double t2 = dot(query, &values.key[at]) * c.scale() * std::log2(std::exp(1.0));
                    if (!c.pooling.apart || (i > 0 && j > 0)) {
                        const std::uint32_t a = token_of(c.pooling, c.level, i);
                        const std::uint32_t b = token_of(c.pooling, c.level - (c.halves ? 1 : 0), j);
                        const std::int64_t unit = std::int64_t{1} << (c.level == 0 ? 0 : c.level - 1);
                        const std::int64_t distance = (std::int64_t{b} - a) / unit + c.reach();
                        const auto relative = static_cast<std::size_t>(distance);
                        const std::uint8_t sa = batch.segments[batch.tokens[t].first + a];
                        const std::uint8_t sb = batch.segments[batch.tokens[t].first + b];
                        const std::size_t same = sa == sb || sa == kSegmentOfAll || sb == kSegmentOfAll;
                        const double scale = c.scale() * std::log2(std::exp(1.0));
                        t2 += dot(query, &values.relative[(head * c.rows() + relative) * d]) * scale;
                        t2 += dot(query, &values.segment[(head * 2 + same) * d]) * scale;
                        t2 += values.bias[(head * 2 + same) * c.rows() + relative];
                    }
                    const double e = std::exp2(t2);
                    sum += e;
                    for (std::uint32_t k = 0; k < d; ++k)
                        row[head * d + k] += e * values.value[at + k];
                }
                for (std::uint32_t k = 0; k < d; ++k)
                    row[head * d + k] /= sum;
            }
            out.insert(out.end(), row.begin(), row.end());
        }
    }
    return out;
}

class PooledAttentionOp : public EachSet {
  protected:
    template <class Check>
    static void for_each_case(Check check) {
        for (const Case& c : kCases) {
            SCOPED_TRACE(::testing::Message() << "level " << c.level << ", halves " << c.halves << ", apart "
                                              << c.pooling.apart << ", head width " << c.head_width);
            check(static_cast<S8*>(nullptr), c);
            check(static_cast<F32*>(nullptr), c);
        }
    }
};

TEST_P(PooledAttentionOp, AddsWhatTokensMean) {
    for_each_case([this](auto* kind, const Case& c) {
        using Kind = std::remove_pointer_t<decltype(kind)>;
        const Batch batch(c, kLengths);
        const Values values(c, 128);
        const std::vector<float> got = attend<Kind>(set(), c, batch, values);
        const std::vector<double> want = exact(c, batch, values);
        ASSERT_EQ(got.size(), want.size());
        for (std::size_t i = 0; i < want.size(); ++i)
            ASSERT_NEAR(got[i], want[i], Kind::kTolerance) << i;
    });
}

TEST_P(PooledAttentionOp, HasTheBitsOfTheScalarSetHoweverItIsCut) {
    for_each_case([this](auto* kind, const Case& c) {
        using Kind = std::remove_pointer_t<decltype(kind)>;
        const Batch batch(c, kLengths);
        const Values values(c, 128);
        const std::vector<float> want = attend<Kind>(scalar(set().packing), c, batch, values);
        for (const Cut& cut : {Cut{}, Cut{1, 1, 1}, Cut{24, 200, 100}, Cut{4, 9, 1}})
            EXPECT_TRUE(same_bits(attend<Kind>(set(), c, batch, values, cut), want)) << cut.tile_rows;
    });
}

TEST_P(PooledAttentionOp, FirstRowsAlone) {
    for_each_case([this](auto* kind, const Case& c) {
        using Kind = std::remove_pointer_t<decltype(kind)>;
        const Batch batch(c, kLengths);
        const Values values(c, 128);
        const std::vector<float> all = attend<Kind>(set(), c, batch, values);
        Values moved = values;
        for (std::size_t t = 0; t < kLengths.size(); ++t)
            std::copy_n(values.query.begin() + batch.queries[t].first * c.width(), c.width(),
                        moved.query.begin() + static_cast<std::ptrdiff_t>(t * c.width()));
        const std::vector<float> first = attend<Kind>(set(), c, batch, moved, {}, true);
        for (std::size_t t = 0; t < kLengths.size(); ++t)
            EXPECT_EQ(
                std::memcmp(&first[t * c.width()], &all[batch.queries[t].first * c.width()], c.width() * sizeof(float)),
                0)
                << t;
    });
}

INSTANTIATE_TEST_SUITE_P(Ops, PooledAttentionOp, ::testing::ValuesIn(usable_sets()), set_name);

}  // namespace
}  // namespace etch::testing
