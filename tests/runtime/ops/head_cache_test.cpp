// SPDX-License-Identifier: Apache-2.0
// The packed bytes of keys and values: those of packing.hpp, with zero padding, however the rows come and whatever was
// there; nothing else is written.
#include "heads.hpp"

namespace etch::testing {
namespace {

struct Placed {
    std::uint32_t tokens;
    std::uint32_t place;
};

struct Case {
    std::uint32_t key_heads;
    std::uint32_t head_width;
    std::uint32_t cache_tokens;
    std::vector<Placed> texts;
};

const Case kCases[] = {{2, 32, 40, {{21, 0}}},  {1, 5, 1, {{1, 0}}},
                       {2, 5, 9, {{3, 0}}},     {3, 16, 16, {{16, 0}}},
                       {1, 64, 50, {{33, 0}}},  {2, 20, 100, {{7, 0}, {20, 16}, {1, 48}, {33, 64}}},
                       {1, 48, 130, {{130, 0}}}};

HeadShape shape_of(const KernelSet& set, const Case& c) {
    constexpr std::uint32_t tile_rows = 1;  // so that there is little scratch but that of packing
    return {set.packing, 2 * c.key_heads, c.head_width, c.cache_tokens, tile_rows, c.key_heads, c.cache_tokens};
}

class HeadCache : public EachSet {
  protected:
    // Row `row` of text `text`.
    static std::vector<float> row_of(const Case& c, std::size_t text, std::uint32_t row) {
        return Random(static_cast<std::uint32_t>(100 * text + row)).floats(c.key_heads * c.head_width);
    }

    // The rows of every text, at most `rows` at a time from each text, in blocks of at most `block` rows.
    template <class Heads>
    Heads packed(const Case& c, std::uint32_t rows, std::uint32_t block_rows) const {
        const HeadShape shape = shape_of(set(), c);
        Heads heads(shape);
        const std::uint32_t width = c.key_heads * c.head_width;
        for (std::uint32_t done = 0; done < c.cache_tokens; done += rows) {
            std::vector<TextRows> texts;
            std::vector<float> x;
            for (std::size_t text = 0; text < c.texts.size(); ++text) {
                const Placed& placed = c.texts[text];
                if (placed.tokens <= done) continue;
                const std::uint32_t count = std::min(rows, placed.tokens - done);
                const auto first = static_cast<std::uint32_t>(x.size() / width);
                texts.push_back({first, count, done, done + count, placed.place});
                for (std::uint32_t row = 0; row < count; ++row) {
                    const std::vector<float> values = row_of(c, text, done + row);
                    x.insert(x.end(), values.begin(), values.end());
                }
            }
            if (texts.empty()) break;
            const Texts batch{texts.data(), static_cast<std::uint32_t>(texts.size())};
            for (const RowBlock block : RowBlocks(batch.rows(), block_rows)) {
                const F32Rows input = F32Rows{x.data(), width}.from(block.first);
                const OpContext context{set(), heads.scratch.data()};
                run(typename Heads::PackKeys{shape, block, batch, input, heads.keys()}, context, 1);
                run(typename Heads::PackValues{shape, block, batch, input, heads.values()}, context, 1);
            }
        }
        return heads;
    }

    // Calls each(head, place of the token, its values) for every packed row.
    template <class Each>
    static void for_each_row(const Case& c, Each each) {
        for (std::size_t text = 0; text < c.texts.size(); ++text) {
            for (std::uint32_t row = 0; row < c.texts[text].tokens; ++row) {
                const std::vector<float> values = row_of(c, text, row);
                for (std::uint32_t head = 0; head < c.key_heads; ++head)
                    each(head, c.texts[text].place + row, values.data() + head * c.head_width);
            }
        }
    }

    // Calls each(place) for the tokens of every text and those behind them that complete a group.
    template <class Each>
    static void for_each_place(const Case& c, std::size_t group, Each each) {
        for (const Placed& text : c.texts) {
            for (std::size_t token = 0; token < round_up(text.tokens, group); ++token)
                each(text.place + token);
        }
    }

    S8Heads s8_wanted(const Case& c) const {
        const HeadShape s = shape_of(set(), c);
        S8Heads want(s);
        const bool panel = s.packing == Packing::panel;
        const std::size_t padded_width = round_up(c.head_width, panel ? 4 : 16);
        const std::size_t outputs = panel ? round_up(c.head_width, 16) : c.head_width;
        for (std::uint32_t head = 0; head < c.key_heads; ++head) {
            std::int8_t* const keys = want.key_bytes.data() + head * s8_key_bytes(s);
            std::int8_t* const values = want.value_bytes.data() + head * s8_value_bytes(s);
            for_each_place(c, panel ? 16 : 1, [&](std::size_t token) {
                for (std::size_t i = 0; i < padded_width; ++i)
                    keys[packed_s8_index(s.packing, token, i, c.head_width)] = 0;
            });
            for_each_place(c, panel ? 4 : 16, [&](std::size_t token) {
                for (std::size_t i = 0; i < outputs; ++i)
                    values[packed_s8_index(s.packing, i, token, c.cache_tokens)] = 0;
            });
        }
        for_each_row(c, [&](std::uint32_t head, std::uint32_t token, const float* row) {
            std::vector<std::int8_t> q(c.head_width);
            const float scale = scalar(Packing::rows).quantize_row_s8(row, c.head_width, q.data());
            want.key_scales[head * c.cache_tokens + token] = want.value_scales[head * c.cache_tokens + token] = scale;
            for (std::uint32_t i = 0; i < c.head_width; ++i) {
                want.key_bytes[head * s8_key_bytes(s) + packed_s8_index(s.packing, token, i, c.head_width)] = q[i];
                want.value_bytes[head * s8_value_bytes(s) + packed_s8_index(s.packing, i, token, c.cache_tokens)] =
                    q[i];
            }
        });
        return want;
    }

    F32Heads f32_wanted(const Case& c) const {
        const HeadShape s = shape_of(set(), c);
        F32Heads want(s);
        const bool panel = s.packing == Packing::panel;
        const std::size_t outputs = panel ? round_up(c.head_width, 16) : c.head_width;
        for (std::uint32_t head = 0; head < c.key_heads; ++head) {
            float* const keys = want.key_floats.data() + head * f32_key_elements(s);
            float* const values = want.value_floats.data() + head * f32_value_elements(s);
            for_each_place(c, panel ? 16 : 1, [&](std::size_t token) {
                for (std::size_t i = 0; i < c.head_width; ++i)
                    keys[packed_f32_index(s.packing, token, i, c.head_width)] = 0.0f;
            });
            for_each_place(c, 1, [&](std::size_t token) {
                for (std::size_t i = 0; i < outputs; ++i)
                    values[packed_f32_index(s.packing, i, token, c.cache_tokens)] = 0.0f;
            });
        }
        for_each_row(c, [&](std::uint32_t head, std::uint32_t token, const float* row) {
            for (std::uint32_t i = 0; i < c.head_width; ++i) {
                want.key_floats[head * f32_key_elements(s) + packed_f32_index(s.packing, token, i, c.head_width)] =
                    row[i];
                want.value_floats[head * f32_value_elements(s) +
                                  packed_f32_index(s.packing, i, token, c.cache_tokens)] = row[i];
            }
        });
        return want;
    }
};
INSTANTIATE_TEST_SUITE_P(Ops, HeadCache, ::testing::ValuesIn(usable_sets()), set_name);

TEST_P(HeadCache, IsAWeightTableHoweverTheRowsCome) {
    for (const Case& c : kCases) {
        const S8Heads s8_want = s8_wanted(c);
        const F32Heads f32_want = f32_wanted(c);
        for (const std::uint32_t rows : {1000u, 1u, 3u, 4u, 7u, 16u}) {  // of a text at a time: appended
            for (const std::uint32_t block_rows : {1000u, 1u, 3u, 4u, 7u}) {
                SCOPED_TRACE(::testing::Message()
                             << "rows " << rows << ", block " << block_rows << ", tokens " << c.texts[0].tokens);
                const S8Heads s8 = packed<S8Heads>(c, rows, block_rows);
                ASSERT_TRUE(same_bits(s8.key_bytes, s8_want.key_bytes));
                ASSERT_TRUE(same_bits(s8.value_bytes, s8_want.value_bytes));
                ASSERT_TRUE(same_bits(s8.key_scales, s8_want.key_scales));
                ASSERT_TRUE(same_bits(s8.value_scales, s8_want.value_scales));
                const F32Heads f32 = packed<F32Heads>(c, rows, block_rows);
                ASSERT_TRUE(same_bits(f32.key_floats, f32_want.key_floats));
                ASSERT_TRUE(same_bits(f32.value_floats, f32_want.value_floats));
            }
        }
    }
}

}  // namespace
}  // namespace etch::testing
