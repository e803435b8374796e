// SPDX-License-Identifier: Apache-2.0
// Attention within a window beside global rows. The scores of a tile are in two pieces, each whole panels of keys, so
// that the partials of a row's sum are those of all keys: with the global keys, then with those of the window.
#include "etch/ops/global_attention.hpp"

#include "added_bias.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

struct Piece {
    KeyRange range;
    CachedKeys cached;
    std::uint32_t column;  // of the scores, where it begins

    Piece(const HeadShape& shape, const Tile& tile, const KeyRange& keys, std::uint32_t begin) noexcept
        : range(keys), cached(shape, tile, keys), column(begin) {}
};

template <class Op>
const TextRows& text_of(const Op& op, const Tile& tile) noexcept {
    return (*TextParts(op.texts, {op.block.first + tile.first, 1}).begin()).text;
}

// From the panel of their first key.
KeyRange panels_of(const RowBlock& keys) noexcept {
    const std::uint32_t first = keys.first / kPanelWidth * kPanelWidth;
    return {first, keys.first + keys.count - first};
}

struct Pieces {
    RowBlock keys;       // that are global
    std::uint32_t room;  // columns of the first piece
    Piece global;
    Piece window;

    template <class Op>
    Pieces(const Op& op, const Tile& tile) noexcept
        : keys(op.global.of(text_of(op.attention, tile))),
          room(panels(panels_of(keys).count) * kPanelWidth),
          global(op.attention.shape, tile, panels_of(keys), 0),
          window(op.attention.shape, tile, AddedBias(op.bias).keys(tile), room) {}

    std::uint32_t columns() const noexcept { return room + window.range.count; }
};

std::size_t stride_of(const HeadShape& shape, const GlobalPart& global) noexcept {
    return round_up(global.most, kPanelWidth) + round_up(shape.max_tokens, kPanelWidth);
}

// Of one row of the tile: in the panels of global keys others are not seen, and in the window these are not.
void mask_row(const HeadShape& shape, const ScoreBias& bias, const Tile& tile, const Pieces& of, std::uint32_t row,
              float* t) noexcept {
    hide(t, 0, of.keys.first - of.global.range.first);
    hide(t, of.global.range.count, of.room);
    float* const near = t + of.room;
    const KeyRange& window = of.window.range;
    AddedBias(bias).add(shape, tile, window, row, near);
    hide(near, least(above(of.keys.first, window.first), window.count),
         least(above(of.keys.first + of.keys.count, window.first), window.count));
}

}  // namespace

template <>
void GlobalAttentionS8::run(const OpContext& with, std::uint32_t first, std::uint32_t last) const noexcept {
    const KernelSet& kernels = with.kernels;
    const HeadShape& shape = attention.shape;
    const std::size_t stride = stride_of(shape, global);
    Scratch scratch(with.scratch);
    QuantizedRows queries;
    queries.stride_bytes = encoded_row_bytes(shape.packing, shape.head_width);
    queries.data = scratch.bytes(shape.tile_rows * queries.stride_bytes);
    float* const scores = scratch.floats(shape.tile_rows * stride);
    QuantizedRows probabilities;
    probabilities.stride_bytes = encoded_row_bytes(shape.packing, shape.max_tokens);
    probabilities.data = scratch.bytes(shape.tile_rows * probabilities.stride_bytes);
    queries.scales = probabilities.scales = scratch.floats(shape.tile_rows);
    float* const sums = scratch.floats(shape.tile_rows);

    for (std::uint32_t unit = first; unit < last; ++unit) {
        const Tile tile = tile_of(unit, shape, attention.block, attention.texts);
        const Pieces pieces(*this, tile);
        quantize_queries(attention, kernels, tile, queries);
        for (const Piece* piece : {&pieces.global, &pieces.window}) {
            kernels.matmul_s8(
                score_product(attention, tile, piece->cached, piece->range, queries, scores + piece->column, stride), 0,
                panels(piece->range.count));
        }
        for (std::uint32_t row = 0; row < tile.count; ++row) {
            mask_row(shape, bias, tile, pieces, row, scores + row * stride);
            sums[row] = kernels.exp2_row(scores + row * stride, pieces.columns());
        }
        for (const Piece* piece : {&pieces.global, &pieces.window}) {
            const float* const scales = attention.values.scales + piece->cached.scales(shape);
            for (std::uint32_t row = 0; row < tile.count; ++row) {
                const float largest =
                    kernels.quantize_probabilities(scores + row * stride + piece->column, scales, piece->range.count,
                                                   probabilities.data + row * probabilities.stride_bytes);
                probabilities.scales[row] = (largest * polynomials::kInverse127) / sums[row];
            }
            MatmulS8 sum = value_product(attention, tile, piece->cached, piece->range, probabilities);
            if (piece == &pieces.window) sum.residual = sum.out;
            kernels.matmul_s8(sum, 0, panels(shape.head_width));
        }
    }
}

template <>
void GlobalAttentionF32::run(const OpContext& with, std::uint32_t first, std::uint32_t last) const noexcept {
    const KernelSet& kernels = with.kernels;
    const HeadShape& shape = attention.shape;
    const std::size_t stride = stride_of(shape, global);
    Scratch scratch(with.scratch);
    float* const scores = scratch.floats(shape.tile_rows * stride);
    float* const row_scales = scratch.floats(shape.tile_rows);

    for (std::uint32_t unit = first; unit < last; ++unit) {
        const Tile tile = tile_of(unit, shape, attention.block, attention.texts);
        const Pieces pieces(*this, tile);
        for (std::uint32_t row = 0; row < tile.count; ++row)
            row_scales[row] = attention.score_scale;
        for (const Piece* piece : {&pieces.global, &pieces.window}) {
            kernels.matmul_f32(
                score_product(attention, tile, piece->cached, piece->range, row_scales, scores + piece->column, stride),
                0, panels(piece->range.count));
        }
        for (std::uint32_t row = 0; row < tile.count; ++row) {
            mask_row(shape, bias, tile, pieces, row, scores + row * stride);
            row_scales[row] = 1.0f / kernels.exp2_row(scores + row * stride, pieces.columns());
        }
        for (const Piece* piece : {&pieces.global, &pieces.window}) {
            MatmulF32 sum =
                value_product(attention, tile, piece->cached, piece->range, scores + piece->column, stride, row_scales);
            if (piece == &pieces.window) sum.residual = sum.out;
            kernels.matmul_f32(sum, 0, panels(shape.head_width));
        }
    }
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
