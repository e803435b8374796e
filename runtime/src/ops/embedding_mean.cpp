// SPDX-License-Identifier: Apache-2.0
#include "etch/ops/embedding_mean.hpp"

#include "entry.hpp"
#include "tiny.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

template <class Embedding>
void add(const EmbeddingMean<Embedding>& op, std::uint32_t entry, std::uint32_t column, std::uint32_t columns,
         float* sums) noexcept {
    const std::uint32_t width = op.out.width;
    if (has_4_bits(op.table)) {
        for (std::uint32_t i = 0; i < columns; ++i)
            sums[i] = sums[i] + without_tiny(value_of(op.table, entry, width, column + i));
        return;
    }
    const auto values = whole_entry(op.table, entry, width);
    for (std::uint32_t i = 0; i < columns; ++i)
        sums[i] = sums[i] + without_tiny(values[column + i]);
}

}  // namespace

template <class Embedding>
void EmbeddingMean<Embedding>::run(const OpContext&, std::uint32_t first, std::uint32_t last) const noexcept {
    const float factor = 1.0f / static_cast<float>(count);
    for (std::uint32_t unit = first; unit < last; ++unit) {
        const std::uint32_t column = unit * kPoolColumns;
        const std::uint32_t left = out.width - column;
        const std::uint32_t columns = left < kPoolColumns ? left : kPoolColumns;
        float sums[kPoolColumns] = {};
        for (std::uint32_t row = 0; row < count; ++row)
            add(*this, static_cast<std::uint32_t>(ids[row]), column, columns, sums);
        for (std::uint32_t i = 0; i < columns; ++i)
            out.data[column + i] = sums[i] * factor;
    }
}

template struct EmbeddingMean<S8Embedding>;
template struct EmbeddingMean<F32Embedding>;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
