// SPDX-License-Identifier: Apache-2.0
#include "etch/ops/embedding.hpp"

#include <cstddef>

#include "../kernels/kernel_set.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

// One entry of a table of `width` columns, by value: entry[i] is its i-th float.
class S8Entry {
  public:
    S8Entry(const S8Embedding& embedding, std::uint32_t index, std::uint32_t width) noexcept
        : q_(embedding.table + std::size_t{index} * width), scale_(embedding.scales[index]) {}
    float operator[](std::uint32_t i) const noexcept { return static_cast<float>(q_[i]) * scale_; }

  private:
    const std::int8_t* q_;
    float scale_;
};

class F32Entry {
  public:
    F32Entry(const F32Embedding& embedding, std::uint32_t index, std::uint32_t width) noexcept
        : values_(embedding.table + std::size_t{index} * width) {}
    float operator[](std::uint32_t i) const noexcept { return values_[i]; }

  private:
    const float* values_;
};

S8Entry entry(const S8Embedding& embedding, std::uint32_t index, std::uint32_t width) noexcept {
    return S8Entry(embedding, index, width);
}

F32Entry entry(const F32Embedding& embedding, std::uint32_t index, std::uint32_t width) noexcept {
    return F32Entry(embedding, index, width);
}

}  // namespace

template <class Embedding>
void EmbeddingSum<Embedding>::run(const OpContext&, std::uint32_t first, std::uint32_t last) const noexcept {
    const std::uint32_t width = out.width;
    for (const TextPart part : TextParts(texts, {first, last - first})) {
        for (std::uint32_t n = 0; n < part.count; ++n) {
            const std::uint32_t row = first + part.row + n;
            const auto from_word = entry(word, static_cast<std::uint32_t>(ids[row]), width);
            const auto from_segment = entry(segment, segments[row], width);
            const auto from_position = entry(position, part.token + n, width);
            float* to = out.from(row).data;
            for (std::uint32_t i = 0; i < width; ++i)
                to[i] = (from_word[i] + from_segment[i]) + from_position[i];
        }
    }
}

template struct EmbeddingSum<S8Embedding>;
template struct EmbeddingSum<F32Embedding>;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
