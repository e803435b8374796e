// SPDX-License-Identifier: Apache-2.0
// Multi-head self-attention over one text of `tokens` rows. Keys and values are packed once per layer, per head, like
// weight tables; queries come in blocks of rows.
//
// Shapes: heads x head_width = width of the query, key, value and context rows. Per head, keys are a packed matrix of n
// = tokens outputs and k = head_width inputs, values one of n = head_width and k = tokens. Buffers are sized for
// max_tokens.
#pragma once

#include <cstddef>
#include <cstdint>

#include "etch/ops/op.hpp"
#include "etch/ops/rows.hpp"
#include "etch/packing.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

struct HeadShape {
    Packing packing;
    std::uint32_t heads;
    std::uint32_t head_width;
    std::uint32_t max_tokens;
    std::uint32_t tile_rows;  // query rows that one unit of Attention works on at a time
};

// s8 keys or values of every head with one scale per (head, token).
struct S8HeadCache {
    std::int8_t* packed;  // [heads][s8_key_bytes(shape)] or [heads][s8_value_bytes(shape)], 16-byte aligned
    float* scales;        // [heads][max_tokens]
};

struct F32HeadCache {
    float* packed;  // [heads][f32_key_elements(shape)] or [heads][f32_value_elements(shape)]
};

constexpr std::size_t s8_key_bytes(const HeadShape& s) noexcept {
    return round_up(packed_s8_bytes(s.packing, s.max_tokens, s.head_width), 16);
}
constexpr std::size_t s8_value_bytes(const HeadShape& s) noexcept {
    return round_up(packed_s8_bytes(s.packing, s.head_width, s.max_tokens), 16);
}
constexpr std::size_t f32_key_elements(const HeadShape& s) noexcept {
    return packed_f32_elements(s.packing, s.max_tokens, s.head_width);
}
constexpr std::size_t f32_value_elements(const HeadShape& s) noexcept {
    return packed_f32_elements(s.packing, s.head_width, s.max_tokens);
}

// Quantizes each (row, head) of a block of key rows and packs it at the rows' places. Units: heads.
struct PackKeysS8 {
    const HeadShape& shape;
    RowBlock block;        // the rows' places in the text
    std::uint32_t tokens;  // rows of the whole text: the last block zeroes the padding behind them
    F32Rows input;         // [block.count][heads * head_width]
    S8HeadCache out;

    std::uint32_t units() const noexcept { return shape.heads; }
    std::uint64_t cost() const noexcept { return kCostOfValue * block.count * input.width; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

struct PackValuesS8 {
    const HeadShape& shape;
    RowBlock block;
    std::uint32_t tokens;
    F32Rows input;
    S8HeadCache out;

    std::uint32_t units() const noexcept { return shape.heads; }
    std::uint64_t cost() const noexcept { return kCostOfValue * block.count * input.width; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

struct PackKeysF32 {
    const HeadShape& shape;
    RowBlock block;
    std::uint32_t tokens;
    F32Rows input;
    F32HeadCache out;

    std::uint32_t units() const noexcept { return shape.heads; }
    std::uint64_t cost() const noexcept { return kCostOfValue * block.count * input.width; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

struct PackValuesF32 {
    const HeadShape& shape;
    RowBlock block;
    std::uint32_t tokens;
    F32Rows input;
    F32HeadCache out;

    std::uint32_t units() const noexcept { return shape.heads; }
    std::uint64_t cost() const noexcept { return kCostOfValue * block.count * input.width; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

// Two products and an exponential per head, query row and token.
constexpr std::uint64_t attention_cost(const HeadShape& s, std::uint32_t rows, std::uint32_t tokens,
                                       std::uint64_t product) noexcept {
    return std::uint64_t{s.heads} * rows * tokens * (2 * product * s.head_width + kCostOfValue);
}

// context = softmax(query keys^T / sqrt(head_width)) values. Units: heads. `score_scale` is c = log2(e) /
// sqrt(head_width).
struct AttentionS8 {
    const HeadShape& shape;
    float score_scale;
    std::uint32_t count;   // query rows
    std::uint32_t tokens;  // key and value rows
    F32Rows query;         // [count][heads * head_width]; quantized per (row, head) in scratch
    S8HeadCache keys;
    S8HeadCache values;
    F32Rows context;  // [count][heads * head_width]; may be the same rows as query

    std::uint32_t units() const noexcept { return shape.heads; }
    std::uint64_t cost() const noexcept { return attention_cost(shape, count, tokens, 1); }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

struct AttentionF32 {
    const HeadShape& shape;
    float score_scale;
    std::uint32_t count;
    std::uint32_t tokens;
    F32Rows query;
    F32HeadCache keys;
    F32HeadCache values;
    F32Rows context;

    std::uint32_t units() const noexcept { return shape.heads; }
    std::uint64_t cost() const noexcept { return attention_cost(shape, count, tokens, kCostOfF32Product); }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

// Scratch bytes that Attention needs for one tile: encoded queries, scores, encoded probabilities, row factors.
// codegen/plan.py computes the same numbers; generated code compares them in a static_assert.
constexpr std::size_t attention_s8_scratch_bytes(const HeadShape& s) noexcept {
    return round_up(s.tile_rows * encoded_row_bytes(s.packing, s.head_width), 64) +
           round_up(s.tile_rows * round_up(s.max_tokens, kPanelWidth) * sizeof(float), 64) +
           round_up(s.tile_rows * encoded_row_bytes(s.packing, s.max_tokens), 64) +
           round_up(s.tile_rows * sizeof(float), 64);
}
constexpr std::size_t attention_f32_scratch_bytes(const HeadShape& s) noexcept {
    return round_up(s.tile_rows * round_up(s.max_tokens, kPanelWidth) * sizeof(float), 64) +
           round_up(s.tile_rows * sizeof(float), 64);
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
