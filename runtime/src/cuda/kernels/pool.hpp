// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../kernels/square_root.hpp"
#include "../../ops/tiny.hpp"
#include "etch/cuda/input.hpp"
#include "etch/ops/pool.hpp"
#include "grid.hpp"
#include "row_values.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

// One row from the rows of each text, as the op Pool says. A thread for each column.
template <class Source>
struct Pool {
    static constexpr std::uint32_t kThreads = 64;

    Pooling kind;
    Source in;  // [rows][width]
    const TextInfo* texts;
    float* out;  // [texts][width]
    std::uint32_t width;
    const std::uint32_t* count;  // texts there are
    std::uint32_t rows;          // texts at most

    Grid grid() const noexcept { return {rows, (width + kThreads - 1) / kThreads}; }
    std::size_t shared_bytes() const noexcept { return 0; }

    template <class Block>
    ETCH_DEVICE void operator()(Block& block) const noexcept {
        const std::uint32_t text = block.x();
        if (text >= *count) return;
        const TextInfo of = texts[text];
        block.threads([&](std::uint32_t thread) {
            const std::uint32_t column = block.y() * kThreads + thread;
            if (column < width) out[std::size_t{text} * width + column] = pooled(of, column);
        });
    }

  private:
    ETCH_DEVICE float pooled(const TextInfo& text, std::uint32_t column) const noexcept {
        const auto rows_of_text = static_cast<float>(text.count);
        switch (kind) {
            case Pooling::first:
                return without_tiny(in.at(text.first, column));
            case Pooling::last:
                return without_tiny(in.at(text.first + text.count - 1, column));
            case Pooling::mean:
                return sum(text, column) * (1.0f / rows_of_text);
            case Pooling::mean_sqrt:
                return sum(text, column) * (1.0f / square_root(rows_of_text));
            case Pooling::weighted_mean:
                return weighted_sum(text, column) * (1.0f / (rows_of_text * static_cast<float>(text.count + 1) * 0.5f));
            case Pooling::ends:
                return without_tiny(in.at(column < width / 2 ? text.first + text.count - 1 : text.first, column));
            case Pooling::max:
                break;
        }
        float largest = without_tiny(in.at(text.first, column));
        for (std::uint32_t row = 1; row < text.count; ++row) {
            const float value = without_tiny(in.at(text.first + row, column));
            largest = value > largest ? value : largest;
        }
        return largest;
    }

    ETCH_DEVICE float sum(const TextInfo& text, std::uint32_t column) const noexcept {
        float total = 0.0f;
        ETCH_DEVICE_UNROLL
        for (std::uint32_t row = 0; row < text.count; ++row)
            total += without_tiny(in.at(text.first + row, column));
        return total;
    }

    ETCH_DEVICE float weighted_sum(const TextInfo& text, std::uint32_t column) const noexcept {
        float total = 0.0f;
        ETCH_DEVICE_UNROLL
        for (std::uint32_t row = 0; row < text.count; ++row)
            total += without_tiny(in.at(text.first + row, column)) * static_cast<float>(row + 1);
        return total;
    }
};

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
