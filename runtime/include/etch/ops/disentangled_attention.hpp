// SPDX-License-Identifier: Apache-2.0
// Attention whose scores also depend on how far query and key are apart, through both of them (DeBERTa, He et al. 2021,
// arXiv:2006.03654): t = (query * key + query * relative key) + key * relative query, each product scaled as the first
// is, its rows the factor on the left. Relative keys and queries are tables of rows; of each distance one is meant.
//
// Only rows that a tile's distances mean are multiplied: `rows_by_distance` never descends, so that they follow each
// other. There is no mask, and as many heads of keys as of queries.
#pragma once

#include <cstddef>
#include <cstdint>

#include "etch/ops/attention.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// Relative keys or queries of a layer. Null packed: none.
struct S8RelativeRows {
    const std::int8_t* packed = nullptr;  // [heads] packed matrices of `rows` outputs and head_width inputs
    const float* scales = nullptr;        // [heads][rows]
    std::uint32_t rows = 0;
};

struct F32RelativeRows {
    const float* packed = nullptr;
    std::uint32_t rows = 0;
};

// Keys as the rows of a product, beside the caches where they are a product's weights.
struct S8KeyRows {
    std::uint8_t* data = nullptr;  // [heads][cache_tokens] rows of encoded_row_bytes(packing, head_width), aligned to
                                   // 16 bytes
    float* scales = nullptr;       // [heads][cache_tokens]
};

struct F32KeyRows {
    float* data = nullptr;  // [heads][cache_tokens][head_width]
};

// Keys of a block of rows, quantized per (row, head) or as they are, to where the caches have them. Units: heads.
template <class KeyRows>
struct PackKeyRows {
    const HeadShape& shape;
    RowBlock block;
    const Texts& texts;
    F32Rows input;  // [block.count][heads * head_width]
    KeyRows out;

    std::uint32_t units() const noexcept { return shape.heads; }
    std::uint64_t cost() const noexcept { return kCostOfValue * block.count * input.width; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

using PackKeyRowsS8 = PackKeyRows<S8KeyRows>;
using PackKeyRowsF32 = PackKeyRows<F32KeyRows>;

// As Attention. `score_scale` is log2(e) times the scale of all three products.
template <class Cache, class KeyRows, class RelativeRows>
struct DisentangledAttention {
    Attention<Cache> attention;
    KeyRows key_rows;  // all that queries attend to; unused without relative queries
    RelativeRows relative_keys;
    RelativeRows relative_queries;
    const std::uint16_t* rows_by_distance;  // [2 * max_tokens - 1], key - query position + max_tokens - 1: ascending

    std::uint32_t units() const noexcept { return attention.units(); }
    std::uint64_t cost() const noexcept { return 2 * attention.cost(); }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

using DisentangledAttentionS8 = DisentangledAttention<S8HeadCache, S8KeyRows, S8RelativeRows>;
using DisentangledAttentionF32 = DisentangledAttention<F32HeadCache, F32KeyRows, F32RelativeRows>;

// Bytes of the products of some rows with all that a tile's distances mean: those of `rows` with `others` tokens.
constexpr std::size_t relative_product_bytes(std::uint32_t rows, std::uint32_t others) noexcept {
    return rows * (round_up(rows + others - 1, kPanelWidth) + kPanelWidth) * sizeof(float);
}

// Scratch behind that of attention: products of a tile's queries or of a panel's keys, factors of the latter.
// codegen/memory/plan.py computes the same numbers.
constexpr std::size_t relative_scratch_bytes(const HeadShape& s) noexcept {
    const std::size_t of_queries = relative_product_bytes(s.tile_rows, s.max_tokens);
    const std::size_t of_keys = relative_product_bytes(kPanelWidth, s.tile_rows);
    return aligned_bytes(of_queries > of_keys ? of_queries : of_keys) + aligned_bytes(kPanelWidth * sizeof(float));
}
constexpr std::size_t disentangled_s8_scratch_bytes(const HeadShape& s) noexcept {
    return attention_s8_scratch_bytes(s) + relative_scratch_bytes(s);
}
constexpr std::size_t disentangled_f32_scratch_bytes(const HeadShape& s) noexcept {
    return attention_f32_scratch_bytes(s) + relative_scratch_bytes(s);
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
