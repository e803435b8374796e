// SPDX-License-Identifier: Apache-2.0
// Attention of whole texts: against the contract step by step, against doubles, and with every split into blocks, tiles
// and heads.
#include "etch/ops/attention.hpp"

#include <algorithm>
#include <cmath>

#include "heads.hpp"

namespace etch::testing {
namespace {

struct Text {
    std::uint32_t heads;
    std::uint32_t head_width;
    std::uint32_t tokens;
    std::uint32_t max_tokens;
};

const Text kTexts[] = {{2, 32, 21, 40}, {1, 5, 1, 1},   {2, 5, 3, 9},    {3, 16, 16, 16},
                       {1, 64, 33, 50}, {2, 20, 7, 64}, {2, 32, 64, 64}, {1, 48, 130, 130}};

// How a run is cut up: rows per block of keys and values, query rows per block and per tile, heads at a time.
struct Split {
    std::uint32_t key_block = 1000;
    std::uint32_t query_block = 1000;
    std::uint32_t tile_rows = 16;
    std::uint32_t units_at_once = 1000;
    bool in_place = false;
};

class AttentionOp : public EachSet {
  protected:
    struct Input {
        explicit Input(const Text& text, float scale = 1.0f)
            : query(Random(1).floats(count(text), 2.0f * scale)),
              key(Random(2).floats(count(text), 2.0f)),
              value(Random(3).floats(count(text))),
              score_scale(static_cast<float>(std::log2(std::exp(1.0)) / std::sqrt(1.0 * text.head_width))) {}
        static std::size_t count(const Text& text) { return std::size_t{text.tokens} * text.heads * text.head_width; }
        std::vector<float> query;
        std::vector<float> key;
        std::vector<float> value;
        float score_scale;
    };

    static HeadShape shape(const KernelSet& set, const Text& text, const Split& split) {
        return {set.packing, text.heads, text.head_width, text.max_tokens, split.tile_rows};
    }

    static std::vector<float> s8(const KernelSet& set, const Text& text, Input input, const Split& split) {
        const HeadShape s = shape(set, text, split);
        const std::uint32_t width = text.heads * text.head_width;
        const TextRows whole = whole_text(text.tokens);
        const Texts texts{&whole, 1};
        EdgeArray<std::uint8_t> scratch(s8_scratch_bytes(s), 0x5A);
        EdgeArray<std::int8_t> packed_keys(text.heads * s8_key_bytes(s), 0x5A);
        EdgeArray<std::int8_t> packed_values(text.heads * s8_value_bytes(s), 0x5A);
        EdgeArray<float> key_scales(text.heads * text.max_tokens, NAN);
        EdgeArray<float> value_scales(text.heads * text.max_tokens, NAN);
        const S8HeadCache keys{packed_keys.data(), key_scales.data()};
        const S8HeadCache values{packed_values.data(), value_scales.data()};
        const OpContext context{set, scratch.data()};
        for (const RowBlock block : RowBlocks(text.tokens, split.key_block)) {
            const F32Rows k = F32Rows{input.key.data(), width}.from(block.first);
            const F32Rows v = F32Rows{input.value.data(), width}.from(block.first);
            run(PackKeysS8{s, block, texts, k, keys}, context, split.units_at_once);
            run(PackValuesS8{s, block, texts, v, values}, context, split.units_at_once);
        }
        std::vector<float> out(input.query.size(), NAN);
        const F32Rows query{input.query.data(), width};
        const F32Rows to = split.in_place ? query : F32Rows{out.data(), width};
        for (const RowBlock block : RowBlocks(text.tokens, split.query_block)) {
            run(AttentionS8{s, input.score_scale, block, texts, query.from(block.first), keys, values,
                            to.from(block.first)},
                context, split.units_at_once);
        }
        return split.in_place ? input.query : out;
    }

    static std::vector<float> f32(const KernelSet& set, const Text& text, Input input, const Split& split) {
        const HeadShape s = shape(set, text, split);
        const std::uint32_t width = text.heads * text.head_width;
        const TextRows whole = whole_text(text.tokens);
        const Texts texts{&whole, 1};
        EdgeArray<std::uint8_t> scratch(attention_f32_scratch_bytes(s), 0x5A);
        EdgeArray<float> packed_keys(text.heads * f32_key_elements(s), NAN);
        EdgeArray<float> packed_values(text.heads * f32_value_elements(s), NAN);
        const F32HeadCache keys{packed_keys.data()};
        const F32HeadCache values{packed_values.data()};
        const OpContext context{set, scratch.data()};
        for (const RowBlock block : RowBlocks(text.tokens, split.key_block)) {
            const F32Rows k = F32Rows{input.key.data(), width}.from(block.first);
            const F32Rows v = F32Rows{input.value.data(), width}.from(block.first);
            run(PackKeysF32{s, block, texts, k, keys}, context, split.units_at_once);
            run(PackValuesF32{s, block, texts, v, values}, context, split.units_at_once);
        }
        std::vector<float> out(input.query.size(), NAN);
        const F32Rows query{input.query.data(), width};
        const F32Rows to = split.in_place ? query : F32Rows{out.data(), width};
        for (const RowBlock block : RowBlocks(text.tokens, split.query_block)) {
            run(AttentionF32{s, input.score_scale, block, texts, query.from(block.first), keys, values,
                             to.from(block.first)},
                context, split.units_at_once);
        }
        return split.in_place ? input.query : out;
    }

    // softmax(Q K^T / sqrt(d)) V in doubles.
    static std::vector<double> exact(const Text& text, const Input& input) {
        const std::size_t width = std::size_t{text.heads} * text.head_width;
        std::vector<double> out(input.query.size());
        for (std::size_t head = 0; head < text.heads; ++head) {
            for (std::size_t row = 0; row < text.tokens; ++row) {
                const std::size_t at = head * text.head_width;
                std::vector<double> e(text.tokens);
                double sum = 0;
                for (std::size_t j = 0; j < text.tokens; ++j) {
                    double dot = 0;
                    for (std::size_t i = 0; i < text.head_width; ++i) {
                        dot += double{input.query[row * width + at + i]} * input.key[j * width + at + i];
                    }
                    e[j] = std::exp(dot / std::sqrt(1.0 * text.head_width));
                    sum += e[j];
                }
                for (std::size_t j = 0; j < text.tokens; ++j) {
                    for (std::size_t i = 0; i < text.head_width; ++i) {
                        out[row * width + at + i] += e[j] / sum * input.value[j * width + at + i];
                    }
                }
            }
        }
        return out;
    }
};
INSTANTIATE_TEST_SUITE_P(Ops, AttentionOp, ::testing::ValuesIn(usable_sets()), set_name);

TEST_P(AttentionOp, NearDouble) {
    for (const Text& text : kTexts) {
        const Input input(text);
        const std::vector<double> want = exact(text, input);
        const std::vector<float> s8_out = s8(set(), text, input, {});
        const std::vector<float> f32_out = f32(set(), text, input, {});
        for (std::size_t i = 0; i < want.size(); ++i) {
            ASSERT_NEAR(f32_out[i], want[i], 2e-6) << i;
            ASSERT_NEAR(s8_out[i], want[i], 0.04) << i;
        }
    }
}

// The s8 recipe of the contract, line by line, with exact integers.
TEST_P(AttentionOp, S8FollowsTheContract) {
    const KernelSet& row_ops = scalar(Packing::rows);
    for (const Text& text : kTexts) {
        const Input input(text);
        const std::vector<float> got = s8(set(), text, input, {});
        const std::size_t width = std::size_t{text.heads} * text.head_width;
        const std::uint32_t d = text.head_width;
        for (std::size_t head = 0; head < text.heads; ++head) {
            std::vector<std::int8_t> q(d);
            std::vector<std::int8_t> k(text.tokens * d);
            std::vector<std::int8_t> v(text.tokens * d);
            std::vector<float> s_k(text.tokens);
            std::vector<float> s_v(text.tokens);
            for (std::size_t j = 0; j < text.tokens; ++j) {
                s_k[j] = row_ops.quantize_row_s8(&input.key[j * width + head * d], d, &k[j * d]);
                s_v[j] = row_ops.quantize_row_s8(&input.value[j * width + head * d], d, &v[j * d]);
            }
            for (std::size_t row = 0; row < text.tokens; ++row) {
                const float s_q = row_ops.quantize_row_s8(&input.query[row * width + head * d], d, q.data());
                std::vector<float> t(text.tokens);
                for (std::size_t j = 0; j < text.tokens; ++j) {
                    std::int32_t acc = 0;
                    for (std::size_t i = 0; i < d; ++i)
                        acc += q[i] * k[j * d + i];
                    volatile float query_scale = s_q * input.score_scale;
                    volatile float scaled = static_cast<float>(acc) * query_scale;
                    t[j] = scaled * s_k[j];
                }
                const float sum = row_ops.exp2_row(t.data(), text.tokens);
                std::vector<std::uint8_t> p(round_up(text.tokens, kEncodedPadding));
                const float largest = row_ops.quantize_probabilities(t.data(), s_v.data(), text.tokens, p.data());
                volatile float numerator = largest * static_cast<float>(1.0 / 127.0);
                const float factor = numerator / sum;
                for (std::size_t i = 0; i < d; ++i) {
                    std::int32_t acc = 0;
                    for (std::size_t j = 0; j < text.tokens; ++j)
                        acc += p[j] * v[j * d + i];
                    ASSERT_TRUE(same_bits(got[row * width + head * d + i], static_cast<float>(acc) * factor))
                        << "row " << row << " head " << head;
                }
            }
        }
    }
}

TEST_P(AttentionOp, BlocksTilesAndHeadsDoNotChangeABit) {
    for (const Text& text : kTexts) {
        const Input input(text);
        const std::vector<float> s8_want = s8(set(), text, input, {});
        const std::vector<float> f32_want = f32(set(), text, input, {});
        for (const Split& split :
             {Split{1, 1, 1, 1}, Split{3, 5, 4, 2}, Split{4, 16, 5, 1}, Split{7, 2, 3, 1}, Split{1000, 6, 64, 1},
              Split{16, 1000, 1, 1}, Split{1000, 1000, 16, 1, true}, Split{5, 9, 4, 1, true}}) {
            ASSERT_TRUE(same_bits(s8(set(), text, input, split), s8_want)) << text.tokens;
            ASSERT_TRUE(same_bits(f32(set(), text, input, split), f32_want)) << text.tokens;
        }
    }
}

TEST_P(AttentionOp, EverySetAndPackingAsScalar) {
    for (const Text& text : kTexts) {
        for (const float scale : {1.0f, 1e-4f, 300.0f}) {  // nearly uniform; one key takes all, e of others is 0
            const Input input(text, scale);
            const KernelSet& reference = scalar(Packing::panel);
            ASSERT_TRUE(same_bits(s8(set(), text, input, {}), s8(reference, text, input, {}))) << text.tokens;
            ASSERT_TRUE(same_bits(f32(set(), text, input, {}), f32(reference, text, input, {}))) << text.tokens;
        }
    }
}

TEST_P(AttentionOp, ZeroQueriesKeysOrValues) {
    const Text text{1, 16, 5, 8};
    Input zero_values(text);
    for (float& value : zero_values.value)
        value = 0.0f;
    for (const float out : s8(set(), text, zero_values, {}))
        ASSERT_EQ(out, 0.0f);

    Input zero_queries(text);
    for (float& query : zero_queries.query)
        query = 0.0f;
    for (float& value : zero_queries.value)
        value = 2.0f;
    for (const float out : s8(set(), text, zero_queries, {}))
        ASSERT_NEAR(out, 2.0f, 1e-6);
}

}  // namespace
}  // namespace etch::testing
