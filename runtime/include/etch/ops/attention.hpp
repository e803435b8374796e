// SPDX-License-Identifier: Apache-2.0
// Multi-head attention within each text of a batch. Keys and values are packed once per layer, per head, like weight
// tables; queries come in blocks of rows.
//
// Shapes: query and context rows have heads x head_width columns, key and value rows key_heads x head_width: several
// query heads may share a key head. Per key head, keys are a packed matrix of n = cache_tokens outputs and k =
// head_width inputs, values one of n = head_width and k = cache_tokens. The caches hold one text or several at their
// places, and rows may be appended to a text behind those that it has: the bytes are those of packing all at once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "etch/ops/op.hpp"
#include "etch/ops/row_ops.hpp"
#include "etch/ops/rows.hpp"
#include "etch/ops/texts.hpp"
#include "etch/packing.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

struct HeadShape {
    Packing packing;
    std::uint32_t heads;
    std::uint32_t head_width;
    std::uint32_t max_tokens;                 // key and value rows of a text
    std::uint32_t tile_rows;                  // query rows that one unit of Attention works on at a time
    std::uint32_t key_heads = heads;          // a divisor of heads: head h reads key head h / (heads / key_heads)
    std::uint32_t cache_tokens = max_tokens;  // that the caches of keys and values have room for, of all texts
};

// s8 keys or values of every key head with one scale per (key head, token).
struct S8HeadCache {
    static constexpr std::uint64_t kCostOfElement = 1;  // of a product with one

    // [key_heads][s8_key_bytes(shape)] or [key_heads][s8_value_bytes(shape)], aligned to kPackedAlignment
    std::int8_t* packed;
    float* scales;  // [key_heads][cache_tokens]
};

struct F32HeadCache {
    static constexpr std::uint64_t kCostOfElement = kCostOfF32Product;

    float* packed;  // [key_heads][f32_key_elements(shape)] or [key_heads][f32_value_elements(shape)]
};

constexpr std::size_t s8_key_bytes(const HeadShape& s) noexcept {
    return round_up(packed_s8_bytes(s.packing, s.cache_tokens, s.head_width), kPackedAlignment);
}
constexpr std::size_t s8_value_bytes(const HeadShape& s) noexcept {
    return round_up(packed_s8_bytes(s.packing, s.head_width, s.cache_tokens), kPackedAlignment);
}
constexpr std::size_t f32_key_elements(const HeadShape& s) noexcept {
    return packed_f32_elements(s.packing, s.cache_tokens, s.head_width);
}
constexpr std::size_t f32_value_elements(const HeadShape& s) noexcept {
    return packed_f32_elements(s.packing, s.head_width, s.cache_tokens);
}

// Where the keys of a key head begin in a cache, of the text at `place`, and where its values do: inputs of a matrix
// that is packed for cache_tokens.
constexpr std::size_t s8_key_offset(const HeadShape& s, std::uint32_t head, std::uint32_t place) noexcept {
    return head * s8_key_bytes(s) + packed_s8_bytes(s.packing, place, s.head_width);
}
constexpr std::size_t s8_value_offset(const HeadShape& s, std::uint32_t head, std::uint32_t place) noexcept {
    return head * s8_value_bytes(s) + packed_s8_index(s.packing, 0, place, s.cache_tokens);
}
constexpr std::size_t f32_key_offset(const HeadShape& s, std::uint32_t head, std::uint32_t place) noexcept {
    return head * f32_key_elements(s) + packed_f32_elements(s.packing, place, s.head_width);
}
constexpr std::size_t f32_value_offset(const HeadShape& s, std::uint32_t head, std::uint32_t place) noexcept {
    return head * f32_value_elements(s) + packed_f32_index(s.packing, 0, place, s.cache_tokens);
}

// Of caches that hold several layers, one behind the other, that of one layer.
constexpr S8HeadCache keys_of_layer(const S8HeadCache& all, const HeadShape& s, std::uint32_t layer) noexcept {
    const std::size_t heads = std::size_t{layer} * s.key_heads;
    return {all.packed + heads * s8_key_bytes(s), all.scales + heads * s.cache_tokens};
}
constexpr S8HeadCache values_of_layer(const S8HeadCache& all, const HeadShape& s, std::uint32_t layer) noexcept {
    const std::size_t heads = std::size_t{layer} * s.key_heads;
    return {all.packed + heads * s8_value_bytes(s), all.scales + heads * s.cache_tokens};
}
constexpr F32HeadCache keys_of_layer(const F32HeadCache& all, const HeadShape& s, std::uint32_t layer) noexcept {
    return {all.packed + std::size_t{layer} * s.key_heads * f32_key_elements(s)};
}
constexpr F32HeadCache values_of_layer(const F32HeadCache& all, const HeadShape& s, std::uint32_t layer) noexcept {
    return {all.packed + std::size_t{layer} * s.key_heads * f32_value_elements(s)};
}

// Bytes of a worker's scratch that packing s8 takes: four rows of a head. codegen/memory/plan.py computes the same.
constexpr std::size_t pack_s8_scratch_bytes(const HeadShape& s) noexcept {
    return std::size_t{4} * s.head_width;
}

// Packs each (row, key head) of a block of key rows, s8 quantized, behind the rows before it, where text.position says.
// Cache is S8HeadCache or F32HeadCache here and below. Units: key heads. The block that has the last of a text's rows
// zeroes what is behind it in its panel of keys or group of values.
template <class Cache>
struct PackKeys {
    const HeadShape& shape;
    RowBlock block;
    const Texts& texts;
    F32Rows input;  // [block.count][key_heads * head_width]
    Cache out;

    std::uint32_t units() const noexcept { return shape.key_heads; }
    std::uint64_t cost() const noexcept { return kCostOfPackedValue * block.count * input.width; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

using PackKeysS8 = PackKeys<S8HeadCache>;
using PackKeysF32 = PackKeys<F32HeadCache>;
// Specialized, as below: bytes and floats go different ways.
template <>
void PackKeysS8::run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
template <>
void PackKeysF32::run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;

template <class Cache>
struct PackValues {
    const HeadShape& shape;
    RowBlock block;
    const Texts& texts;
    F32Rows input;
    Cache out;

    std::uint32_t units() const noexcept { return shape.key_heads; }
    std::uint64_t cost() const noexcept { return kCostOfPackedValue * block.count * input.width; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

using PackValuesS8 = PackValues<S8HeadCache>;
using PackValuesF32 = PackValues<F32HeadCache>;
template <>
void PackValuesS8::run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
template <>
void PackValuesF32::run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;

// Tiles of at most tile_rows query rows of one text that a block is cut into.
constexpr std::uint32_t attention_tiles(const HeadShape& s, RowBlock block, const Texts& texts) noexcept {
    std::uint32_t tiles = 0;
    for (const TextPart part : TextParts(texts, block))
        tiles += (part.count + s.tile_rows - 1) / s.tile_rows;
    return tiles;
}

// Two products and an exponential per head, query row and token.
constexpr std::uint64_t attention_cost(const HeadShape& s, RowBlock block, const Texts& texts,
                                       std::uint64_t product) noexcept {
    std::uint64_t scores = 0;
    for (const TextPart part : TextParts(texts, block))
        scores += std::uint64_t{part.count} * part.text.keys;
    return scores * s.heads * (2 * product * s.head_width + kCostOfScore);
}

// context = softmax(query keys^T * scale) values. Units: tiles of each head. `score_scale` is c = log2(e) * scale,
// where scale is 1 / sqrt(head_width) unless the model says another.
template <class Cache>
struct Attention {
    const HeadShape& shape;
    float score_scale;
    RowBlock block;      // the query rows
    const Texts& texts;  // whose first rows only, where no other is computed
    F32Rows query;       // [block.count][heads * head_width]; for s8 quantized per (row, head) in scratch
    Cache keys;
    Cache values;
    F32Rows context;  // [block.count][heads * head_width]; may be the same rows as query

    std::uint32_t units() const noexcept { return shape.heads * attention_tiles(shape, block, texts); }
    std::uint64_t cost() const noexcept { return attention_cost(shape, block, texts, Cache::kCostOfElement); }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

using AttentionS8 = Attention<S8HeadCache>;
using AttentionF32 = Attention<F32HeadCache>;

// Which keys a query sees, by their positions in the text.
enum class AttentionMask : std::uint8_t {
    none,
    causal,  // none behind its own position
    window,  // none more than `window` positions away, on both sides
    past,    // none of either
    blocks,  // those of its own of the blocks of `window` positions that a text is parted into
};

// What becomes of the scores t of a query before the softmax: the table is added, then the mask applies.
struct ScoreBias {
    AttentionMask mask = AttentionMask::none;  // t = -2^100 where a key is not seen: it contributes exactly 0
    std::uint32_t window = 0;
    // f32 [heads][2 * max_tokens - 1], times log2(e): t = t + table[head][key - query position + max_tokens - 1]. Null:
    // none.
    const float* table = nullptr;
};

// Attention with a bias. Each query sees a key at least. Keys that no query of a unit sees are not multiplied, which
// changes no bit.
template <class Cache>
struct BiasedAttention {
    Attention<Cache> attention;
    ScoreBias bias;

    std::uint32_t units() const noexcept { return attention.units(); }
    std::uint64_t cost() const noexcept { return attention.cost(); }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

using BiasedAttentionS8 = BiasedAttention<S8HeadCache>;
using BiasedAttentionF32 = BiasedAttention<F32HeadCache>;

// Attention whose scores are bounded: t becomes what the cap makes of it, its limit times log2(e), then the bias
// applies.
template <class Cache>
struct CappedAttention {
    Attention<Cache> attention;
    ScoreBias bias;
    SoftCap cap;

    std::uint32_t units() const noexcept { return attention.units(); }
    std::uint64_t cost() const noexcept { return attention.cost(); }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

using CappedAttentionS8 = CappedAttention<S8HeadCache>;
using CappedAttentionF32 = CappedAttention<F32HeadCache>;

// Scratch bytes that Attention needs for one tile: encoded queries, scores, encoded probabilities, row factors.
// codegen/memory/plan.py computes the same numbers; generated code compares them in a static_assert.
constexpr std::size_t attention_s8_scratch_bytes(const HeadShape& s) noexcept {
    return aligned_bytes(s.tile_rows * encoded_row_bytes(s.packing, s.head_width)) +
           aligned_bytes(s.tile_rows * round_up(s.max_tokens, kPanelWidth) * sizeof(float)) +
           aligned_bytes(s.tile_rows * encoded_row_bytes(s.packing, s.max_tokens)) +
           aligned_bytes(s.tile_rows * sizeof(float));
}
constexpr std::size_t attention_f32_scratch_bytes(const HeadShape& s) noexcept {
    return aligned_bytes(s.tile_rows * round_up(s.max_tokens, kPanelWidth) * sizeof(float)) +
           aligned_bytes(s.tile_rows * sizeof(float));
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
