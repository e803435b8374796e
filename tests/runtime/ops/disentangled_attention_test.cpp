// SPDX-License-Identifier: Apache-2.0
// Attention with relative keys and queries: against doubles, bit for bit the same on the scalar set, however rows,
// units and texts are cut, and that of plain attention where the tables are zero.
#include "etch/ops/disentangled_attention.hpp"

#include "heads.hpp"

namespace etch::testing {
namespace {

struct Sizes {
    std::uint32_t heads;
    std::uint32_t head_width;
    std::uint32_t max_tokens;
    std::uint32_t before;  // keys that far before a query, or farther, share a row of the tables
    std::uint32_t after;

    std::uint32_t width() const { return heads * head_width; }
    std::uint32_t rows() const { return before + after + 1; }
    std::uint32_t row(std::int64_t distance) const {
        const std::int64_t least = -static_cast<std::int64_t>(before);
        return static_cast<std::uint32_t>(std::clamp<std::int64_t>(distance, least, after) - least);
    }
    float score_scale() const { return static_cast<float>(std::log2(std::exp(1.0)) / std::sqrt(3.0 * head_width)); }
    std::vector<std::uint16_t> rows_by_distance() const {
        std::vector<std::uint16_t> found;
        for (std::int64_t distance = 1 - std::int64_t{max_tokens}; distance < max_tokens; ++distance)
            found.push_back(static_cast<std::uint16_t>(row(distance)));
        return found;
    }
};

// Rows of all texts, and the tables [heads][rows][head_width]; empty: there is none.
struct Values {
    std::vector<float> query, key, value, relative_keys, relative_queries;

    Values(const Sizes& sizes, std::uint32_t tokens, float relative = 2.0f)
        : query(Random(1).floats(tokens * sizes.width(), 2.0f)),
          key(Random(2).floats(tokens * sizes.width(), 2.0f)),
          value(Random(3).floats(tokens * sizes.width())),
          relative_keys(Random(4).floats(sizes.width() * sizes.rows(), relative)),
          relative_queries(Random(5).floats(sizes.width() * sizes.rows(), relative)) {}
};

struct S8 : S8Heads {
    using S8Heads::S8Heads;
    using Disentangled = DisentangledAttentionS8;
    using PackKeyRows = PackKeyRowsS8;
    static constexpr double kTolerance = 0.06;

    static std::size_t scratch_bytes(const HeadShape& s) {
        return std::max(disentangled_s8_scratch_bytes(s), pack_s8_scratch_bytes(s));
    }

    struct KeyRows {
        EdgeArray<std::uint8_t> data;
        EdgeArray<float> scales;
        explicit KeyRows(const HeadShape& s)
            : data(s.heads * s.cache_tokens * encoded_row_bytes(s.packing, s.head_width), 0x5A),
              scales(s.heads * s.cache_tokens, NAN) {}
        S8KeyRows view() { return {data.data(), scales.data()}; }
    };

    struct Table {
        EdgeArray<std::int8_t> packed;
        EdgeArray<float> scales;
        std::uint32_t rows;
        Table(const KernelSet& set, const Sizes& s, const std::vector<float>& values)
            : packed(values.empty() ? 0 : s.heads * packed_s8_bytes(set.packing, s.rows(), s.head_width)),
              scales(values.empty() ? 0 : s.heads * s.rows()),
              rows(s.rows()) {
            std::vector<std::int8_t> q(values.size());
            for (std::size_t row = 0; row < scales.size(); ++row)
                scales[row] = set.quantize_row_s8(&values[row * s.head_width], s.head_width, &q[row * s.head_width]);
            for (std::uint32_t head = 0; head < s.heads && !q.empty(); ++head) {
                const auto first = q.begin() + head * rows * s.head_width;
                const auto of_head =
                    pack(set.packing, std::vector<std::int8_t>(first, first + rows * s.head_width), rows, s.head_width);
                std::memcpy(packed.data() + head * of_head.size(), of_head.data(), of_head.size());
            }
        }
        S8RelativeRows view() const {
            return scales.size() == 0 ? S8RelativeRows{} : S8RelativeRows{packed.data(), scales.data(), rows};
        }
    };
};

struct F32 : F32Heads {
    using F32Heads::F32Heads;
    using Disentangled = DisentangledAttentionF32;
    using PackKeyRows = PackKeyRowsF32;
    static constexpr double kTolerance = 3e-6;

    static std::size_t scratch_bytes(const HeadShape& s) { return disentangled_f32_scratch_bytes(s); }

    struct KeyRows {
        EdgeArray<float> data;
        explicit KeyRows(const HeadShape& s) : data(s.heads * s.cache_tokens * s.head_width, NAN) {}
        F32KeyRows view() { return {data.data()}; }
    };

    struct Table {
        EdgeArray<float> packed;
        std::uint32_t rows;
        Table(const KernelSet& set, const Sizes& s, const std::vector<float>& values)
            : packed(values.empty() ? 0 : s.heads * packed_f32_elements(set.packing, s.rows(), s.head_width)),
              rows(s.rows()) {
            for (std::uint32_t head = 0; head < s.heads && !values.empty(); ++head) {
                const auto first = values.begin() + head * rows * s.head_width;
                const auto of_head =
                    pack(set.packing, std::vector<float>(first, first + rows * s.head_width), rows, s.head_width);
                std::memcpy(packed.data() + head * of_head.size(), of_head.data(), of_head.size() * sizeof(float));
            }
        }
        F32RelativeRows view() const {
            return packed.size() == 0 ? F32RelativeRows{} : F32RelativeRows{packed.data(), rows};
        }
    };
};

// How the work is cut.
struct Cut {
    std::uint32_t tile_rows = 5;
    std::uint32_t block_rows = 7;
    std::uint32_t at_once = 2;
};

// All queries of the texts, or the first of each.
template <class Kind>
std::vector<float> attend(const KernelSet& set, const Sizes& sizes, Values values, const Texts& texts, Cut cut = {},
                          bool plain = false) {
    std::uint32_t cache_tokens = sizes.max_tokens;
    for (std::uint32_t i = 0; i < texts.count; ++i)
        cache_tokens = std::max(cache_tokens, texts.texts[i].place + texts.texts[i].keys);
    const HeadShape shape{set.packing,   sizes.heads, sizes.head_width, sizes.max_tokens,
                          cut.tile_rows, sizes.heads, cache_tokens};
    Kind heads(shape);
    typename Kind::KeyRows key_rows(shape);
    const typename Kind::Table keys(set, sizes, values.relative_keys);
    const typename Kind::Table queries(set, sizes, values.relative_queries);
    const EdgeArray<std::uint16_t> by_distance(sizes.rows_by_distance());
    EdgeArray<std::uint8_t> scratch(round_up(Kind::scratch_bytes(shape), 64), 0x5A);
    const OpContext context{set, scratch.data()};

    const Texts all{texts.texts, texts.count};
    for (const RowBlock block : RowBlocks(all.rows(), cut.block_rows)) {
        const F32Rows key = F32Rows{values.key.data(), sizes.width()}.from(block.first);
        const F32Rows value = F32Rows{values.value.data(), sizes.width()}.from(block.first);
        run(typename Kind::PackKeys{shape, block, all, key, heads.keys()}, context, 1);
        run(typename Kind::PackKeyRows{shape, block, all, key, key_rows.view()}, context, cut.at_once);
        run(typename Kind::PackValues{shape, block, all, value, heads.values()}, context, 1);
    }
    std::vector<float> out(std::size_t{texts.rows()} * sizes.width(), NAN);
    for (const RowBlock block : RowBlocks(texts.rows(), cut.block_rows)) {
        const typename Kind::Attention op{shape,
                                          sizes.score_scale(),
                                          block,
                                          texts,
                                          F32Rows{values.query.data(), sizes.width()}.from(block.first),
                                          heads.keys(),
                                          heads.values(),
                                          F32Rows{out.data(), sizes.width()}.from(block.first)};
        if (plain) {
            run(op, context, cut.at_once);
            continue;
        }
        const typename Kind::Disentangled relative{op, key_rows.view(), keys.view(), queries.view(),
                                                   by_distance.data()};
        EXPECT_EQ(relative.units(), op.units());
        run(relative, context, cut.at_once);
    }
    return out;
}

std::vector<double> exact(const Sizes& sizes, const Values& values, std::uint32_t tokens) {
    const std::uint32_t d = sizes.head_width;
    std::vector<double> out(std::size_t{tokens} * sizes.width());
    const auto dot = [d](const float* a, const float* b) {
        double sum = 0;
        for (std::uint32_t i = 0; i < d; ++i)
            sum += double{a[i]} * b[i];
        return sum;
    };
    for (std::uint32_t row = 0; row < tokens; ++row) {
        for (std::uint32_t head = 0; head < sizes.heads; ++head) {
            const float* const query = &values.query[row * sizes.width() + head * d];
            double sum = 0;
            double* const mixed = &out[row * sizes.width() + head * d];
            for (std::uint32_t j = 0; j < tokens; ++j) {
                const float* const key = &values.key[j * sizes.width() + head * d];
                const std::size_t place = (head * sizes.rows() + sizes.row(std::int64_t{j} - row)) * d;
                double score = dot(query, key);
                if (!values.relative_keys.empty()) score += dot(query, &values.relative_keys[place]);
                if (!values.relative_queries.empty()) score += dot(key, &values.relative_queries[place]);
                const double e = std::exp(score / std::sqrt(3.0 * d));
                sum += e;
                for (std::uint32_t i = 0; i < d; ++i)
                    mixed[i] += e * values.value[j * sizes.width() + head * d + i];
            }
            for (std::uint32_t i = 0; i < d; ++i)
                mixed[i] /= sum;
        }
    }
    return out;
}

const Sizes kSizes[] = {{2, 32, 40, 39, 39}, {3, 20, 50, 17, 3}, {1, 5, 33, 0, 6}};
const std::uint32_t kTokens[] = {1, 7, 16, 33};

class DisentangledAttentionOp : public EachSet {
  protected:
    // check(kind, sizes, tokens) for both kinds and every size.
    template <class Check>
    static void for_each_case(Check check) {
        for (const Sizes& sizes : kSizes) {
            for (const std::uint32_t tokens : kTokens) {
                SCOPED_TRACE(::testing::Message() << "head width " << sizes.head_width << ", tokens " << tokens);
                check(static_cast<S8*>(nullptr), sizes, tokens);
                check(static_cast<F32*>(nullptr), sizes, tokens);
            }
        }
    }
};

TEST_P(DisentangledAttentionOp, AddsWhatDistancesMean) {
    for_each_case([this](auto* kind, const Sizes& sizes, std::uint32_t tokens) {
        using Kind = std::remove_pointer_t<decltype(kind)>;
        const TextRows text = whole_text(tokens);
        for (const int missing : {0, 1, 2}) {
            Values values(sizes, tokens);
            if (missing == 1) values.relative_keys.clear();
            if (missing == 2) values.relative_queries.clear();
            const std::vector<float> got = attend<Kind>(set(), sizes, values, {&text, 1});
            const std::vector<double> want = exact(sizes, values, tokens);
            for (std::size_t i = 0; i < want.size(); ++i)
                ASSERT_NEAR(got[i], want[i], Kind::kTolerance) << i << ", without " << missing;
        }
    });
}

TEST_P(DisentangledAttentionOp, HasTheBitsOfTheScalarSetHoweverItIsCut) {
    for_each_case([this](auto* kind, const Sizes& sizes, std::uint32_t tokens) {
        using Kind = std::remove_pointer_t<decltype(kind)>;
        const Values values(sizes, tokens);
        const TextRows text = whole_text(tokens);
        const std::vector<float> want = attend<Kind>(scalar(set().packing), sizes, values, {&text, 1});
        for (const Cut& cut : {Cut{}, Cut{1, 1, 1}, Cut{24, 100, 100}, Cut{4, 9, 1}})
            EXPECT_TRUE(same_bits(attend<Kind>(set(), sizes, values, {&text, 1}, cut), want)) << cut.tile_rows;
    });
}

TEST_P(DisentangledAttentionOp, TextsOfABatchAreThoseByThemselves) {
    for_each_case([this](auto* kind, const Sizes& sizes, std::uint32_t tokens) {
        using Kind = std::remove_pointer_t<decltype(kind)>;
        const std::uint32_t before = 5;
        const TextRows texts[] = {whole_text(before), whole_text(tokens, before, kPanelWidth)};
        const Values values(sizes, before + tokens);
        const std::vector<float> both = attend<Kind>(set(), sizes, values, {texts, 2});
        const std::size_t at = std::size_t{before} * sizes.width();
        Values second = values;
        for (std::vector<float>* rows : {&second.query, &second.key, &second.value})
            rows->erase(rows->begin(), rows->begin() + static_cast<std::ptrdiff_t>(at));
        const TextRows alone = whole_text(tokens);
        const std::vector<float> want = attend<Kind>(set(), sizes, second, {&alone, 1});
        EXPECT_TRUE(same_bits(std::vector<float>(both.begin() + static_cast<std::ptrdiff_t>(at), both.end()), want));

        // Of the last layer the first row of each text.
        Values firsts = values;
        std::copy_n(values.query.begin() + static_cast<std::ptrdiff_t>(at), sizes.width(),
                    firsts.query.begin() + sizes.width());
        const std::vector<float> first = attend<Kind>(set(), sizes, firsts, Texts{texts, 2}.first_rows());
        EXPECT_TRUE(same_bits(std::vector<float>(first.begin() + sizes.width(), first.end()),
                              std::vector<float>(want.begin(), want.begin() + sizes.width())));
    });
}

TEST_P(DisentangledAttentionOp, IsPlainAttentionWhereTheTablesAreZero) {
    for_each_case([this](auto* kind, const Sizes& sizes, std::uint32_t tokens) {
        using Kind = std::remove_pointer_t<decltype(kind)>;
        const Values values(sizes, tokens, 0.0f);
        const TextRows text = whole_text(tokens);
        EXPECT_TRUE(same_bits(attend<Kind>(set(), sizes, values, {&text, 1}),
                              attend<Kind>(set(), sizes, values, {&text, 1}, {}, true)));
    });
}

INSTANTIATE_TEST_SUITE_P(Ops, DisentangledAttentionOp, ::testing::ValuesIn(usable_sets()), set_name);

}  // namespace
}  // namespace etch::testing
