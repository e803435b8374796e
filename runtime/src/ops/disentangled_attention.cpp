// SPDX-License-Identifier: Apache-2.0
// In a file of its own: a program whose models have no such attention does not link it.
#include "etch/ops/disentangled_attention.hpp"

#include <cstring>

#include "attend.hpp"
#include "relative_product.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

// Where the rows of a head's keys begin.
std::size_t key_row(const HeadShape& shape, const Tile& tile, std::uint32_t key) noexcept {
    return std::size_t{tile.head} * shape.cache_tokens + tile.place + key;
}

void store_key_row(const KernelSet& kernels, const HeadShape& shape, const float* key, const S8KeyRows& out,
                   std::size_t row) noexcept {
    const std::size_t stride = encoded_row_bytes(shape.packing, shape.head_width);
    out.scales[row] = kernels.quantize_row(key, shape.head_width, out.data + row * stride);
}

void store_key_row(const KernelSet&, const HeadShape& shape, const float* key, const F32KeyRows& out,
                   std::size_t row) noexcept {
    std::memcpy(out.data + row * shape.head_width, key, shape.head_width * sizeof(float));
}

// Makes keys from `first` on the left factor of a product, with the factors given.
void multiply_keys(MatmulS8& product, const S8KeyRows& rows, const HeadShape& shape, const Tile& tile,
                   std::uint32_t first, float score_scale, float* factors) noexcept {
    const std::size_t row = key_row(shape, tile, first);
    for (std::uint32_t i = 0; i < product.rows; ++i)
        factors[i] = rows.scales[row + i] * score_scale;
    const std::size_t stride = encoded_row_bytes(shape.packing, shape.head_width);
    product.a = {rows.data + row * stride, factors, stride};
}

void multiply_keys(MatmulF32& product, const F32KeyRows& rows, const HeadShape& shape, const Tile& tile,
                   std::uint32_t first, float score_scale, float* factors) noexcept {
    for (std::uint32_t i = 0; i < product.rows; ++i)
        factors[i] = score_scale;
    product.a = rows.data + key_row(shape, tile, first) * shape.head_width;
    product.a_stride = shape.head_width;
    product.row_scales = factors;
}

template <class Op>
class RelativeScores {
  public:
    explicit RelativeScores(const Op& op) noexcept : op_(op), shape_(op.attention.shape) {}

    static KeyRange keys(const Tile& tile) noexcept { return {0, tile.keys}; }
    static void add(const HeadShape&, const Tile&, const KeyRange&, std::uint32_t, float*) noexcept {}

    // To the scores of a tile, which `product` has made; its operands become those of the others.
    template <class Product>
    void add_products(const KernelSet& kernels, const Tile& tile, Product& product, Scratch scratch) const noexcept {
        float* const scores = product.out;
        const std::size_t stride = product.out_stride;
        float* const factors = scratch.floats(kPanelWidth);
        float* const found = scratch.floats(0);
        if (op_.relative_keys.packed != nullptr) {
            const RelativeSpan span = of_tile(tile, 0, tile.keys);
            multiply_by(product, kernels, shape_, op_.relative_keys, tile.head, span, found);
            for (std::uint32_t row = 0; row < tile.count; ++row) {
                const std::uint16_t* const places = of_query(tile, row);
                const float* const products = found + row * product.out_stride;
                float* const t = scores + row * stride;
                for (std::uint32_t j = 0; j < tile.keys; ++j)
                    t[j] = t[j] + products[places[j] - span.first];
            }
        }
        if (op_.relative_queries.packed == nullptr) return;
        for (std::uint32_t first = 0; first < tile.keys; first += kPanelWidth) {
            const std::uint32_t left = tile.keys - first;
            product.rows = left < kPanelWidth ? left : kPanelWidth;
            const RelativeSpan span = of_tile(tile, first, product.rows);
            multiply_keys(product, op_.key_rows, shape_, tile, first, op_.attention.score_scale, factors);
            multiply_by(product, kernels, shape_, op_.relative_queries, tile.head, span, found);
            for (std::uint32_t row = 0; row < tile.count; ++row) {
                const std::uint16_t* const places = of_query(tile, row) + first;
                float* const t = scores + row * stride + first;
                for (std::uint32_t j = 0; j < product.rows; ++j)
                    t[j] = t[j] + found[j * product.out_stride + (places[j] - span.first)];
            }
        }
    }

  private:
    // By key position, for one query of a tile.
    const std::uint16_t* of_query(const Tile& tile, std::uint32_t row) const noexcept {
        return op_.rows_by_distance + (shape_.max_tokens - 1 - (tile.position + row));
    }

    // What the distances from a tile's queries to keys [first, first + count) mean.
    RelativeSpan of_tile(const Tile& tile, std::uint32_t first, std::uint32_t count) const noexcept {
        const std::uint32_t lowest = of_query(tile, tile.count - 1)[first];
        const std::uint32_t highest = of_query(tile, 0)[first + count - 1];
        const std::uint32_t begin = lowest / kPanelWidth * kPanelWidth;
        return {begin, highest + 1 - begin};
    }

    const Op& op_;
    const HeadShape& shape_;
};

}  // namespace

template <class KeyRows>
void PackKeyRows<KeyRows>::run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept {
    for (std::uint32_t head = first; head < last; ++head) {
        for (const TextPart part : TextParts(texts, block)) {
            const std::size_t to = std::size_t{head} * shape.cache_tokens + part.text.place + part.position();
            for (std::uint32_t i = 0; i < part.count; ++i)
                store_key_row(context.kernels, shape, head_of(input, part.row + i, shape, head), out, to + i);
        }
    }
}

template void PackKeyRowsS8::run(const OpContext&, std::uint32_t, std::uint32_t) const noexcept;
template void PackKeyRowsF32::run(const OpContext&, std::uint32_t, std::uint32_t) const noexcept;

template <class Cache, class KeyRows, class RelativeRows>
void DisentangledAttention<Cache, KeyRows, RelativeRows>::run(const OpContext& with, std::uint32_t first,
                                                              std::uint32_t last) const noexcept {
    attend(attention, RelativeScores(*this), with, first, last);
}

template void DisentangledAttentionS8::run(const OpContext&, std::uint32_t, std::uint32_t) const noexcept;
template void DisentangledAttentionF32::run(const OpContext&, std::uint32_t, std::uint32_t) const noexcept;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
