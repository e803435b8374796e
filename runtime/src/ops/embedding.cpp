// SPDX-License-Identifier: Apache-2.0
#include "etch/ops/embedding.hpp"

#include <cstddef>

#include "../kernels/kernel_set.hpp"
#include "entry.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

template <class Embedding>
void EmbeddingSum<Embedding>::run(const OpContext&, std::uint32_t first, std::uint32_t last) const noexcept {
    const std::uint32_t width = out.width;
    const bool mixed = has_4_bits(word) || has_4_bits(segment) || has_4_bits(position);
    for (const TextPart part : TextParts(texts, {first, last - first})) {
        for (std::uint32_t n = 0; n < part.count; ++n) {
            const std::uint32_t row = first + part.row + n;
            const std::uint32_t id = static_cast<std::uint32_t>(ids[row]);
            float* to = out.from(row).data;
            if (mixed) {
                for (std::uint32_t i = 0; i < width; ++i) {
                    to[i] = (value_of(word, id, width, i) + value_of(segment, segments[row], width, i)) +
                            value_of(position, part.token + n, width, i);
                }
                continue;
            }
            const auto from_word = whole_entry(word, id, width);
            const auto from_segment = whole_entry(segment, segments[row], width);
            const auto from_position = whole_entry(position, part.token + n, width);
            for (std::uint32_t i = 0; i < width; ++i)
                to[i] = (from_word[i] + from_segment[i]) + from_position[i];
        }
    }
}

template struct EmbeddingSum<S8Embedding>;
template struct EmbeddingSum<F32Embedding>;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
