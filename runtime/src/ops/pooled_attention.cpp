// SPDX-License-Identifier: Apache-2.0
// In a file of its own: a program whose models have no such attention does not link it.
#include "etch/ops/pooled_attention.hpp"

#include "relative_product.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

template <class Op>
class PooledScores {
  public:
    explicit PooledScores(const Op& op) noexcept : op_(op) {}

    static KeyRange keys(const Tile& tile) noexcept { return {0, tile.keys}; }
    static void add(const HeadShape&, const Tile&, const KeyRange&, std::uint32_t, float*) noexcept {}

    // To the scores of a tile, which `product` has made; its operands become those of the others.
    template <class Product>
    void add_products(const KernelSet& kernels, const Tile& tile, Product& product, Scratch scratch) const noexcept {
        const HeadShape& shape = op_.attention.shape;
        float* const scores = product.out;
        const std::size_t stride = product.out_stride;
        float* const of_segments = scratch.floats(shape.tile_rows * kPanelWidth);
        float* const of_distances = scratch.floats(0);
        multiply_by(product, kernels, shape, op_.segment_keys, tile.head, {0, 2}, of_segments);
        const RelativeSpan span = of_tile(tile);
        multiply_by(product, kernels, shape, op_.relative_keys, tile.head, span, of_distances);

        const std::uint32_t first_key = op_.pooling.apart ? 1 : 0;
        const std::uint32_t key_level = op_.level - (halves(tile) ? 1 : 0);
        const std::uint32_t rows = op_.relative_keys.rows;
        const float* const bias = op_.bias + std::size_t{tile.head} * 2 * rows;
        for (std::uint32_t row = 0; row < tile.count; ++row) {
            if (op_.pooling.apart && tile.position + row == 0) continue;
            const std::uint8_t segment = segment_of(tile, op_.level, tile.position + row);
            const float* const products = of_distances + row * product.out_stride;
            float* const t = scores + row * stride;
            for (std::uint32_t j = first_key; j < tile.keys; ++j) {
                const std::uint32_t relative = relative_row(tile, row, j);
                const std::uint32_t same = are_same(segment, segment_of(tile, key_level, j)) ? 1 : 0;
                t[j] = t[j] + products[relative - span.first];
                t[j] = t[j] + of_segments[row * kPanelWidth + same];
                t[j] = t[j] + bias[same * rows + relative];
            }
        }
    }

  private:
    static bool are_same(std::uint8_t a, std::uint8_t b) noexcept {
        return a == b || a == kSegmentOfAll || b == kSegmentOfAll;
    }

    // Whether the keys are those of the level before.
    bool halves(const Tile& tile) const noexcept { return tile.keys != op_.attention.texts.texts[tile.text].count; }

    std::uint8_t segment_of(const Tile& tile, std::uint32_t level, std::uint32_t row) const noexcept {
        return op_.segments[op_.tokens.texts[tile.text].first + token_of(op_.pooling, level, row)];
    }

    // Of the relative keys, for a query of a tile and a key.
    std::uint32_t relative_row(const Tile& tile, std::uint32_t row, std::uint32_t key) const noexcept {
        const std::uint32_t query = tile.position + row;
        const std::uint32_t half = op_.relative_keys.rows / 2;
        if (halves(tile)) return half + key - first_pooled(op_.pooling, query);
        return op_.level == 0 ? half + key - query : half + 2 * key - 2 * query;
    }

    // What the distances of a tile mean.
    RelativeSpan of_tile(const Tile& tile) const noexcept {
        const std::uint32_t lowest = relative_row(tile, tile.count - 1, 0);
        const std::uint32_t begin = lowest / kPanelWidth * kPanelWidth;
        return {begin, relative_row(tile, 0, tile.keys - 1) + 1 - begin};
    }

    const Op& op_;
};

}  // namespace

template <class Cache, class RelativeRows>
void PooledAttention<Cache, RelativeRows>::run(const OpContext& with, std::uint32_t first,
                                               std::uint32_t last) const noexcept {
    attend(attention, PooledScores(*this), with, first, last);
}

template void PooledAttentionS8::run(const OpContext&, std::uint32_t, std::uint32_t) const noexcept;
template void PooledAttentionF32::run(const OpContext&, std::uint32_t, std::uint32_t) const noexcept;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
