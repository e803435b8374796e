// SPDX-License-Identifier: Apache-2.0
// Products of a tile with rows of a table that are looked up by distance: queries with relative keys, keys with
// relative queries.
#pragma once

#include "attend.hpp"
#include "etch/ops/disentangled_attention.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

// Neighbouring rows of a relative table, from a panel's first one on.
struct RelativeSpan {
    std::uint32_t first;
    std::uint32_t count;
};

// Computes a product with some relative rows of a head to `out`.
void multiply_by(MatmulS8& product, const KernelSet& kernels, const HeadShape& shape, const S8RelativeRows& relative,
                 std::uint32_t head, RelativeSpan span, float* out) noexcept {
    product.weights = relative.packed + head * packed_s8_bytes(shape.packing, relative.rows, shape.head_width) +
                      packed_s8_bytes(shape.packing, span.first, shape.head_width);
    product.column_scales = relative.scales + std::size_t{head} * relative.rows + span.first;
    product.out = out;
    product.out_stride = round_up(span.count, kPanelWidth);
    product.n = span.count;
    kernels.matmul_s8(product, 0, panels(span.count));
}

void multiply_by(MatmulF32& product, const KernelSet& kernels, const HeadShape& shape, const F32RelativeRows& relative,
                 std::uint32_t head, RelativeSpan span, float* out) noexcept {
    product.weights = relative.packed + head * packed_f32_elements(shape.packing, relative.rows, shape.head_width) +
                      packed_f32_elements(shape.packing, span.first, shape.head_width);
    product.out = out;
    product.out_stride = round_up(span.count, kPanelWidth);
    product.n = span.count;
    kernels.matmul_f32(product, 0, panels(span.count));
}

}  // namespace
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
