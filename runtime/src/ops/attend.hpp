// SPDX-License-Identifier: Apache-2.0
// Attention of one head at a time, tile_rows query rows at a time, so that a tile's scores and probabilities stay in
// the scratch of one worker. The packed keys and values are the weight tables of the two products. `Bias` says which
// keys a tile is multiplied by, and what is added to their scores: products for a whole tile, then values for a row.
#pragma once

#include <cstddef>

#include "../kernels/kernel_set.hpp"
#include "../kernels/polynomials.hpp"
#include "cache_layout.hpp"
#include "etch/ops/attention.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

// Hands out the scratch in the order in which attention_*_scratch_bytes counts it.
class Scratch {
  public:
    explicit Scratch(std::uint8_t* memory) noexcept : next_(memory) {}

    std::uint8_t* bytes(std::size_t count) noexcept {
        std::uint8_t* memory = next_;
        next_ += aligned_bytes(count);
        return memory;
    }

    float* floats(std::size_t count) noexcept { return reinterpret_cast<float*>(bytes(count * sizeof(float))); }

  private:
    std::uint8_t* next_;
};

std::uint32_t panels(std::uint32_t outputs) noexcept {
    return (outputs + kPanelWidth - 1) / kPanelWidth;
}

// What one unit works on: query rows [first, first + count) of a block, all of one text.
struct Tile {
    std::uint32_t head;
    std::uint32_t first;
    std::uint32_t count;
    std::uint32_t position;  // of the first row in the text
    std::uint32_t keys;      // key and value rows of the text
    std::uint32_t place;     // and where they begin in the caches
    std::uint32_t text;      // which of the texts it is
};

// The units of a head follow each other, so that its keys and values stay in cache.
Tile tile_of(std::uint32_t unit, const HeadShape& shape, RowBlock block, const Texts& texts) noexcept {
    const std::uint32_t tiles = attention_tiles(shape, block, texts);
    std::uint32_t index = unit % tiles;  // among those from the part on; past the one that has it, very large
    Tile tile{};
    for (const TextPart part : TextParts(texts, block)) {
        const std::uint32_t of_part = (part.count + shape.tile_rows - 1) / shape.tile_rows;
        if (index < of_part) {
            const std::uint32_t first = index * shape.tile_rows;
            const std::uint32_t left = part.count - first;
            tile = {unit / tiles,
                    part.row + first,
                    left < shape.tile_rows ? left : shape.tile_rows,
                    part.position() + first,
                    part.text.keys,
                    part.text.place,
                    static_cast<std::uint32_t>(&part.text - texts.texts)};
        }
        index -= of_part;
    }
    return tile;
}

// The keys [first, first + count) of a text that a tile is multiplied by; first is a multiple of kPanelWidth, so that
// the partials of a row's sum are those of all keys.
struct KeyRange {
    std::uint32_t first;
    std::uint32_t count;
};

// Where the keys and values of a tile are in the caches.
struct CachedKeys {
    std::uint32_t head;
    std::uint32_t place;

    CachedKeys(const HeadShape& shape, const Tile& tile, const KeyRange& range) noexcept
        : head(tile.head / (shape.heads / shape.key_heads)), place(tile.place + range.first) {}
    std::size_t scales(const HeadShape& shape) const noexcept { return std::size_t{head} * shape.cache_tokens + place; }
};

void quantize_queries(const AttentionS8& op, const KernelSet& kernels, const Tile& tile,
                      const QuantizedRows& queries) noexcept {
    for (std::uint32_t row = 0; row < tile.count; ++row) {
        const float scale = kernels.quantize_row(head_of(op.query, tile.first + row, op.shape, tile.head),
                                                 op.shape.head_width, queries.data + row * queries.stride_bytes);
        queries.scales[row] = scale * op.score_scale;
    }
}

// The operands that do not depend on what is multiplied.
template <class Product, class Op>
Product scores_of(const Op& op, const Tile& tile, const KeyRange& range, float* scores, std::size_t stride) noexcept {
    Product score{};
    score.out = scores;
    score.out_stride = stride;
    score.rows = tile.count;
    score.k = score.allocated_k = op.shape.head_width;
    score.n = range.count;
    return score;
}

template <class Product, class Op>
Product values_of(const Op& op, const Tile& tile, const KeyRange& range) noexcept {
    Product sum{};
    sum.out = head_of(op.context, tile.first, op.shape, tile.head);
    sum.out_stride = op.context.width;
    sum.rows = tile.count;
    sum.k = range.count;
    sum.allocated_k = op.shape.cache_tokens;
    sum.n = op.shape.head_width;
    return sum;
}

// The scores of a tile's queries with some keys.
MatmulS8 score_product(const AttentionS8& op, const Tile& tile, const CachedKeys& cached, const KeyRange& range,
                       const QuantizedRows& queries, float* scores, std::size_t stride) noexcept {
    auto score = scores_of<MatmulS8>(op, tile, range, scores, stride);
    score.a = queries;
    score.weights = op.keys.packed + s8_key_offset(op.shape, cached.head, cached.place);
    score.column_scales = op.keys.scales + cached.scales(op.shape);
    return score;
}

MatmulF32 score_product(const AttentionF32& op, const Tile& tile, const CachedKeys& cached, const KeyRange& range,
                        const float* row_scales, float* scores, std::size_t stride) noexcept {
    auto score = scores_of<MatmulF32>(op, tile, range, scores, stride);
    score.a = head_of(op.query, tile.first, op.shape, tile.head);
    score.a_stride = op.query.width;
    score.weights = op.keys.packed + f32_key_offset(op.shape, cached.head, cached.place);
    score.row_scales = row_scales;
    return score;
}

// The sum of the values of these keys.
MatmulS8 value_product(const AttentionS8& op, const Tile& tile, const CachedKeys& cached, const KeyRange& range,
                       const QuantizedRows& probabilities) noexcept {
    auto sum = values_of<MatmulS8>(op, tile, range);
    sum.a = probabilities;
    sum.weights = op.values.packed + s8_value_offset(op.shape, cached.head, cached.place);
    return sum;
}

MatmulF32 value_product(const AttentionF32& op, const Tile& tile, const CachedKeys& cached, const KeyRange& range,
                        const float* scores, std::size_t stride, const float* row_scales) noexcept {
    auto sum = values_of<MatmulF32>(op, tile, range);
    sum.a = scores;
    sum.a_stride = stride;
    sum.weights = op.values.packed + f32_value_offset(op.shape, cached.head, cached.place);
    sum.row_scales = row_scales;
    return sum;
}

// Every key, nothing is added.
struct NoBias {
    static KeyRange keys(const Tile& tile) noexcept { return {0, tile.keys}; }
    static void add(const HeadShape&, const Tile&, const KeyRange&, std::uint32_t, float*) noexcept {}
    template <class... Operands>
    static void add_products(const Operands&...) noexcept {}
};

// Scores of a row that `Bias` puts before those of the keys, and that take part in the softmax: whole panels.
template <class Bias>
constexpr std::uint32_t kColumnsBefore = 0;

template <class Bias>
void attend(const AttentionS8& op, const Bias& bias, const OpContext& with, std::uint32_t first,
            std::uint32_t last) noexcept {
    const KernelSet& kernels = with.kernels;
    const HeadShape& shape = op.shape;
    constexpr std::uint32_t before = kColumnsBefore<Bias>;
    const std::size_t score_stride = before + round_up(shape.max_tokens, kPanelWidth);
    Scratch scratch(with.scratch);

    QuantizedRows queries;  // s8 [tile_rows][head_width]; scales [tile_rows], later those of the probabilities
    queries.stride_bytes = encoded_row_bytes(shape.packing, shape.head_width);
    queries.data = scratch.bytes(shape.tile_rows * queries.stride_bytes);
    // f32 [tile_rows][tokens]: t, then e, then w
    float* scores = scratch.floats(shape.tile_rows * score_stride) + before;
    QuantizedRows probabilities;  // s8 [tile_rows][tokens]
    probabilities.stride_bytes = encoded_row_bytes(shape.packing, shape.max_tokens);
    probabilities.data = scratch.bytes(shape.tile_rows * probabilities.stride_bytes);
    queries.scales = probabilities.scales = scratch.floats(shape.tile_rows);

    for (std::uint32_t unit = first; unit < last; ++unit) {
        const Tile tile = tile_of(unit, shape, op.block, op.texts);
        const KeyRange range = bias.keys(tile);
        const CachedKeys cached(shape, tile, range);
        quantize_queries(op, kernels, tile, queries);
        MatmulS8 score = score_product(op, tile, cached, range, queries, scores, score_stride);
        kernels.matmul_s8(score, 0, panels(range.count));
        bias.add_products(kernels, tile, score, scratch);

        for (std::uint32_t row = 0; row < tile.count; ++row) {
            float* e = scores + row * score_stride;
            bias.add(shape, tile, range, row, e);
            const float sum = kernels.exp2_row(e - before, before + range.count);
            const float largest =
                kernels.quantize_probabilities(e, op.values.scales + cached.scales(shape), range.count,
                                               probabilities.data + row * probabilities.stride_bytes);
            probabilities.scales[row] = (largest * polynomials::kInverse127) / sum;
        }
        kernels.matmul_s8(value_product(op, tile, cached, range, probabilities), 0, panels(shape.head_width));
    }
}

template <class Bias>
void attend(const AttentionF32& op, const Bias& bias, const OpContext& with, std::uint32_t first,
            std::uint32_t last) noexcept {
    const KernelSet& kernels = with.kernels;
    const HeadShape& shape = op.shape;
    constexpr std::uint32_t before = kColumnsBefore<Bias>;
    const std::size_t score_stride = before + round_up(shape.max_tokens, kPanelWidth);
    Scratch scratch(with.scratch);
    float* scores = scratch.floats(shape.tile_rows * score_stride) + before;  // [tile_rows][tokens]: t, then e
    float* row_scales = scratch.floats(shape.tile_rows);

    for (std::uint32_t unit = first; unit < last; ++unit) {
        const Tile tile = tile_of(unit, shape, op.block, op.texts);
        const KeyRange range = bias.keys(tile);
        const CachedKeys cached(shape, tile, range);
        for (std::uint32_t row = 0; row < tile.count; ++row)
            row_scales[row] = op.score_scale;
        MatmulF32 score = score_product(op, tile, cached, range, row_scales, scores, score_stride);
        kernels.matmul_f32(score, 0, panels(range.count));
        bias.add_products(kernels, tile, score, scratch);

        for (std::uint32_t row = 0; row < tile.count; ++row) {
            float* e = scores + row * score_stride;
            bias.add(shape, tile, range, row, e);
            row_scales[row] = 1.0f / kernels.exp2_row(e - before, before + range.count);
        }
        const MatmulF32 values = value_product(op, tile, cached, range, scores, score_stride, row_scales);
        kernels.matmul_f32(values, 0, panels(shape.head_width));
    }
}

}  // namespace
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
