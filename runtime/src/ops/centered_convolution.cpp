// SPDX-License-Identifier: Apache-2.0
#include "etch/ops/centered_convolution.hpp"

#include <cstring>

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

// The taps of a row that have a row of the text: [first, last) of `count`.
struct Reach {
    std::uint32_t first;
    std::uint32_t last;

    constexpr Reach(const TextRows& text, std::uint32_t token, std::uint32_t count) noexcept
        : first(token < count / 2 ? count / 2 - token : 0),
          last(text.count - token > count / 2 ? count : text.count - token + count / 2) {}
};

// For each of the rows [first, last) of a block: its part of a text, its token there, and its number in the block.
template <class Row>
void for_rows(const Texts& texts, RowBlock block, std::uint32_t first, std::uint32_t last, Row row) noexcept {
    for (const TextPart part : TextParts(texts, {block.first + first, last - first})) {
        for (std::uint32_t n = 0; n < part.count; ++n)
            row(part.text, part.token + n, first + part.row + n);
    }
}

void fill(float* out, std::uint32_t width) noexcept {
    for (std::uint32_t i = 0; i < width; ++i)
        out[i] = 0.0f;
}

}  // namespace

void PackRows::run(const OpContext&, std::uint32_t first, std::uint32_t last) const noexcept {
    for_rows(texts, block, first, last, [&](const TextRows& text, std::uint32_t token, std::uint32_t row) {
        std::memcpy(out.from(text.place + token).data, input.from(row).data, sizeof(float) * input.width);
    });
}

void CenteredConvolution::run(const OpContext&, std::uint32_t first, std::uint32_t last) const noexcept {
    for_rows(texts, block, first, last, [&](const TextRows& text, std::uint32_t token, std::uint32_t row) {
        const Reach reach(text, token, weights.count);
        float* const y = out.from(row).data;
        fill(y, out.width);
        for (std::uint32_t n = reach.first; n < reach.last; ++n) {
            const float* const x = input.from(text.place + token + n - weights.count / 2).data;
            const float* const tap = weights.taps + std::size_t{n} * out.width;
            for (std::uint32_t i = 0; i < out.width; ++i)
                y[i] = y[i] + (x[i] * tap[i]);
        }
        if (weights.bias == nullptr) return;
        for (std::uint32_t i = 0; i < out.width; ++i)
            y[i] = y[i] + weights.bias[i];
    });
}

void DynamicConvolution::run(const OpContext&, std::uint32_t first, std::uint32_t last) const noexcept {
    const std::uint32_t count = taps.width / heads;
    const std::uint32_t width = out.width / heads;
    for_rows(texts, block, first, last, [&](const TextRows& text, std::uint32_t token, std::uint32_t row) {
        const Reach reach(text, token, count);
        fill(out.from(row).data, out.width);
        for (std::uint32_t n = reach.first; n < reach.last; ++n) {
            const float* x = input.from(text.place + token + n - count / 2).data;
            const float* tap = taps.from(row).data + n;
            float* y = out.from(row).data;
            for (std::uint32_t head = 0; head < heads; ++head, x += width, tap += count, y += width) {
                for (std::uint32_t i = 0; i < width; ++i)
                    y[i] = y[i] + (x[i] * *tap);
            }
        }
    });
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
