// SPDX-License-Identifier: Apache-2.0
#include "etch/ops/embedding.hpp"

#include <cstddef>

#include "../kernels/kernel_set.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

// Calls use(i, value) for the floats of one entry of a table of `width` columns.
template <class Use>
void for_each_value(const S8Embedding& embedding, std::uint32_t index, std::uint32_t width, Use use) noexcept {
    const float scale = embedding.scales[index];
    if (embedding.factors == nullptr) {
        const std::int8_t* q = embedding.table + std::size_t{index} * width;
        for (std::uint32_t i = 0; i < width; ++i)
            use(i, static_cast<float>(q[i]) * scale);
        return;
    }
    const std::int8_t* q = embedding.table + packed_s4_bytes(Packing::rows, index, width);
    const std::uint8_t* factors = embedding.factors + packed_s4_factors(Packing::rows, index, width);
    for (std::uint32_t i = 0; i < width; ++i) {
        const int byte = q[packed_s4_index(Packing::rows, 0, i, width)];
        const int value = packed_s4_high(Packing::rows, i) ? byte >> 4 : static_cast<std::int8_t>(byte << 4) >> 4;
        use(i, static_cast<float>(value * factors[i / kS4Group]) * scale);
    }
}

template <class Use>
void for_each_value(const F32Embedding& embedding, std::uint32_t index, std::uint32_t width, Use use) noexcept {
    const float* values = embedding.table + std::size_t{index} * width;
    for (std::uint32_t i = 0; i < width; ++i)
        use(i, values[i]);
}

}  // namespace

template <class Embedding>
void EmbeddingSum<Embedding>::run(const OpContext&, std::uint32_t first, std::uint32_t last) const noexcept {
    const std::uint32_t width = out.width;
    for (const TextPart part : TextParts(texts, {first, last - first})) {
        for (std::uint32_t n = 0; n < part.count; ++n) {
            const std::uint32_t row = first + part.row + n;
            float* to = out.from(row).data;
            const auto add = [to](std::uint32_t i, float value) noexcept { to[i] = to[i] + value; };
            for_each_value(word, static_cast<std::uint32_t>(ids[row]), width,
                           [to](std::uint32_t i, float value) noexcept { to[i] = value; });
            for_each_value(segment, segments[row], width, add);
            for_each_value(position, part.token + n, width, add);
        }
    }
}

template struct EmbeddingSum<S8Embedding>;
template struct EmbeddingSum<F32Embedding>;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
