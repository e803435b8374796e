// SPDX-License-Identifier: Apache-2.0
// Attention of an encoder that pools rows (pool_rows.hpp): scores also depend on how far the tokens of query and key
// are apart and on whether they are of the same segment, by products of the query and by numbers of the head. A layer's
// queries may be of pooled rows, its keys of those before.
#pragma once

#include <cstddef>
#include <cstdint>

#include "etch/ops/attention.hpp"
#include "etch/ops/disentangled_attention.hpp"
#include "etch/ops/pool_rows.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

constexpr std::uint8_t kSegmentOfAll = 2;  // that of tokens which are of every segment

// t = ((query * key + query * relative key) + query * segment key) + bias, the products scaled as the first is. With
// the first row `apart` its scores, and those of keys that are one, are query * key alone.
//
// The relative key is that of the distance key - query, in steps of the keys of the level before: row distance + rows /
// 2. Of segment keys the first row is for different segments, the second for the same.
template <class Cache, class RelativeRows>
struct PooledAttention {
    Attention<Cache> attention;  // a text whose keys are not as many as its rows attends to those of the level before
    RowPooling pooling;
    std::uint32_t level;           // of the queries
    const Texts& tokens;           // level 0
    const std::uint8_t* segments;  // of all tokens
    RelativeRows relative_keys;
    RelativeRows segment_keys;
    const float* bias;  // [heads][2][relative_keys.rows], times log2(e)

    std::uint32_t units() const noexcept { return attention.units(); }
    std::uint64_t cost() const noexcept { return 2 * attention.cost(); }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

using PooledAttentionS8 = PooledAttention<S8HeadCache, S8RelativeRows>;
using PooledAttentionF32 = PooledAttention<F32HeadCache, F32RelativeRows>;

// Scratch with that of attention: products of a tile's queries with relative keys, up to two for each row and key, and
// with segment keys. codegen/memory/plan.py computes the same numbers.
constexpr std::size_t pooled_products_bytes(const HeadShape& s) noexcept {
    return aligned_bytes(relative_product_bytes(s.tile_rows, s.max_tokens + s.tile_rows + 1)) +
           aligned_bytes(s.tile_rows * kPanelWidth * sizeof(float));
}
constexpr std::size_t pooled_s8_scratch_bytes(const HeadShape& s) noexcept {
    return attention_s8_scratch_bytes(s) + pooled_products_bytes(s);
}
constexpr std::size_t pooled_f32_scratch_bytes(const HeadShape& s) noexcept {
    return attention_f32_scratch_bytes(s) + pooled_products_bytes(s);
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
