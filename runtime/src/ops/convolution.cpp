// SPDX-License-Identifier: Apache-2.0
#include "etch/ops/convolution.hpp"

#include <cstring>

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

// One row, of which those before that are there come first: `row_before(i)` is the one i rows earlier, i = 0 itself.
template <class RowBefore>
void convolve(const ConvolutionWeights& weights, std::uint32_t width, std::uint32_t before, RowBefore row_before,
              float* out) noexcept {
    for (std::uint32_t i = 0; i < width; ++i)
        out[i] = 0.0f;
    for (std::uint32_t rows = before + 1; rows-- > 0;) {
        const float* const x = row_before(rows);
        const float* const tap = weights.taps + std::size_t{weights.count - 1 - rows} * width;
        for (std::uint32_t i = 0; i < width; ++i)
            out[i] = out[i] + (x[i] * tap[i]);
    }
    if (weights.bias == nullptr) return;
    for (std::uint32_t i = 0; i < width; ++i)
        out[i] = out[i] + weights.bias[i];
}

std::uint32_t rows_before(const ConvolutionWeights& weights, std::uint32_t position) noexcept {
    return position < weights.count - 1 ? position : weights.count - 1;
}

}  // namespace

void CausalConvolution::run(const OpContext&, std::uint32_t first, std::uint32_t last) const noexcept {
    for (const TextPart part : TextParts(texts, {block.first + first, last - first})) {
        for (std::uint32_t n = 0; n < part.count; ++n) {
            const std::uint32_t row = first + part.row + n;
            const std::uint32_t of_all = block.first + row;
            convolve(
                weights, out.width, rows_before(weights, part.token + n),
                [&](std::uint32_t earlier) { return input.from(of_all - earlier).data; }, out.from(row).data);
        }
    }
}

void ConvolutionStep::run(const OpContext&, std::uint32_t first, std::uint32_t last) const noexcept {
    const std::uint32_t kept = weights.count - 1;
    for (std::uint32_t t = first; t < last; ++t) {
        const TextRows& text = texts.texts[t];
        const F32Rows state = states.from(text.place / room).in_rows_of(out.width);
        for (std::uint32_t n = 0; n < text.count; ++n) {
            const std::uint32_t position = text.position + n;
            const float* const x = input.from(text.first + n).data;
            convolve(
                weights, out.width, rows_before(weights, position),
                [&](std::uint32_t earlier) { return earlier == 0 ? x : state.from((position - earlier) % kept).data; },
                out.from(text.first + n).data);
            std::memcpy(state.from(position % kept).data, x, sizeof(float) * out.width);
        }
    }
}

void CopyStates::run(const OpContext&, std::uint32_t first, std::uint32_t last) const noexcept {
    for (std::uint32_t layer = first; layer < last; ++layer) {
        const F32Rows of_layer = states.from(layer * beams);
        for (std::uint32_t i = 0; i < copies.count; ++i) {
            const CacheCopy& copy = copies.copies[i];
            std::memcpy(of_layer.from(copy.to / room).data, of_layer.from(copy.from / room).data,
                        sizeof(float) * states.width);
        }
    }
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
