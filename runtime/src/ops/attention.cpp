// SPDX-License-Identifier: Apache-2.0
// Attention of one head at a time, tile_rows query rows at a time, so that a tile's scores and probabilities stay in
// the scratch of one worker. The packed keys and values are the weight tables of the two products.
#include "etch/ops/attention.hpp"

#include <cstddef>

#include "../kernels/kernel_set.hpp"
#include "../kernels/polynomials.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

// Hands out the scratch in the order in which attention_*_scratch_bytes counts it.
class Scratch {
  public:
    explicit Scratch(std::uint8_t* memory) noexcept : next_(memory) {}

    std::uint8_t* bytes(std::size_t count) noexcept {
        std::uint8_t* memory = next_;
        next_ += round_up(count, 64);
        return memory;
    }

    float* floats(std::size_t count) noexcept { return reinterpret_cast<float*>(bytes(count * sizeof(float))); }

  private:
    std::uint8_t* next_;
};

// First value of `head` in row `row`.
float* head_of(const F32Rows& rows, std::uint32_t row, const HeadShape& shape, std::uint32_t head) noexcept {
    return rows.data + std::size_t{row} * rows.width + std::size_t{head} * shape.head_width;
}

std::uint32_t panels(std::uint32_t outputs) noexcept {
    return (outputs + kPanelWidth - 1) / kPanelWidth;
}

}  // namespace

void AttentionS8::run(const OpContext& with, std::uint32_t first, std::uint32_t last) const noexcept {
    const KernelSet& kernels = with.kernels;
    const std::size_t score_stride = round_up(shape.max_tokens, kPanelWidth);
    Scratch scratch(with.scratch);

    QuantizedRows queries;  // s8 [tile_rows][head_width]; scales [tile_rows], later those of the probabilities
    queries.stride_bytes = encoded_row_bytes(shape.packing, shape.head_width);
    queries.data = scratch.bytes(shape.tile_rows * queries.stride_bytes);
    float* scores = scratch.floats(shape.tile_rows * score_stride);  // f32 [tile_rows][tokens]: t, then e, then w
    QuantizedRows probabilities;                                     // s8 [tile_rows][tokens]
    probabilities.stride_bytes = encoded_row_bytes(shape.packing, shape.max_tokens);
    probabilities.data = scratch.bytes(shape.tile_rows * probabilities.stride_bytes);
    queries.scales = probabilities.scales = scratch.floats(shape.tile_rows);

    for (std::uint32_t head = first; head < last; ++head) {
        const float* key_scales = keys.scales + std::size_t{head} * shape.max_tokens;
        const float* value_scales = values.scales + std::size_t{head} * shape.max_tokens;
        for (const RowBlock tile : RowBlocks(count, shape.tile_rows)) {
            for (std::uint32_t row = 0; row < tile.count; ++row) {
                const float scale = kernels.quantize_row(head_of(query, tile.first + row, shape, head),
                                                         shape.head_width, queries.data + row * queries.stride_bytes);
                queries.scales[row] = scale * score_scale;
            }
            MatmulS8 score{};
            score.a = queries;
            score.weights = keys.packed + head * s8_key_bytes(shape);
            score.column_scales = key_scales;
            score.out = scores;
            score.out_stride = score_stride;
            score.rows = tile.count;
            score.k = shape.head_width;
            score.n = tokens;
            kernels.matmul_s8(score, 0, panels(tokens));

            for (std::uint32_t row = 0; row < tile.count; ++row) {
                float* e = scores + row * score_stride;
                const float sum = kernels.exp2_row(e, tokens);
                const float largest = kernels.quantize_probabilities(
                    e, value_scales, tokens, probabilities.data + row * probabilities.stride_bytes);
                probabilities.scales[row] = (largest * polynomials::kInverse127) / sum;
            }
            MatmulS8 sum_of_values{};
            sum_of_values.a = probabilities;
            sum_of_values.weights = values.packed + head * s8_value_bytes(shape);
            sum_of_values.out = head_of(context, tile.first, shape, head);
            sum_of_values.out_stride = context.width;
            sum_of_values.rows = tile.count;
            sum_of_values.k = tokens;
            sum_of_values.n = shape.head_width;
            kernels.matmul_s8(sum_of_values, 0, panels(shape.head_width));
        }
    }
}

void AttentionF32::run(const OpContext& with, std::uint32_t first, std::uint32_t last) const noexcept {
    const KernelSet& kernels = with.kernels;
    const std::size_t score_stride = round_up(shape.max_tokens, kPanelWidth);
    Scratch scratch(with.scratch);
    float* scores = scratch.floats(shape.tile_rows * score_stride);  // [tile_rows][tokens]: t, then e
    float* row_scales = scratch.floats(shape.tile_rows);

    for (std::uint32_t head = first; head < last; ++head) {
        for (const RowBlock tile : RowBlocks(count, shape.tile_rows)) {
            for (std::uint32_t row = 0; row < tile.count; ++row)
                row_scales[row] = score_scale;
            MatmulF32 score{};
            score.a = head_of(query, tile.first, shape, head);
            score.a_stride = query.width;
            score.weights = keys.packed + head * f32_key_elements(shape);
            score.row_scales = row_scales;
            score.out = scores;
            score.out_stride = score_stride;
            score.rows = tile.count;
            score.k = shape.head_width;
            score.n = tokens;
            kernels.matmul_f32(score, 0, panels(tokens));

            for (std::uint32_t row = 0; row < tile.count; ++row) {
                row_scales[row] = 1.0f / kernels.exp2_row(scores + row * score_stride, tokens);
            }
            MatmulF32 sum_of_values{};
            sum_of_values.a = scores;
            sum_of_values.a_stride = score_stride;
            sum_of_values.weights = values.packed + head * f32_value_elements(shape);
            sum_of_values.row_scales = row_scales;
            sum_of_values.out = head_of(context, tile.first, shape, head);
            sum_of_values.out_stride = context.width;
            sum_of_values.rows = tile.count;
            sum_of_values.k = tokens;
            sum_of_values.n = shape.head_width;
            kernels.matmul_f32(sum_of_values, 0, panels(shape.head_width));
        }
    }
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
