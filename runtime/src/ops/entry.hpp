// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "../kernels/device.hpp"
#include "etch/ops/embedding.hpp"
#include "etch/packing.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

// One entry of a table of `width` columns, by value: entry[i] is its i-th float.
class S8Entry {
  public:
    ETCH_DEVICE S8Entry(const S8Embedding& embedding, std::uint32_t index, std::uint32_t width) noexcept
        : q_(embedding.table + std::size_t{index} * width), scale_(embedding.scales[index]) {}
    ETCH_DEVICE float operator[](std::uint32_t i) const noexcept { return static_cast<float>(q_[i]) * scale_; }

  private:
    const std::int8_t* q_;
    float scale_;
};

// Of a table of 4 bits.
class S4Entry {
  public:
    ETCH_DEVICE S4Entry(const S8Embedding& embedding, std::uint32_t index, std::uint32_t width) noexcept
        : q_(embedding.table + packed_s4_bytes(Packing::rows, index, width)),
          factors_(embedding.factors + packed_s4_factors(Packing::rows, index, width)),
          scale_(embedding.scales[index]) {}
    ETCH_DEVICE float operator[](std::uint32_t i) const noexcept {
        const int q = s4_value(q_[packed_s4_index(Packing::rows, 0, i, 0)], packed_s4_high(Packing::rows, i));
        return static_cast<float>(q * factors_[i / kS4Group]) * scale_;
    }

  private:
    const std::int8_t* q_;
    const std::uint8_t* factors_;
    float scale_;
};

class F32Entry {
  public:
    ETCH_DEVICE F32Entry(const F32Embedding& embedding, std::uint32_t index, std::uint32_t width) noexcept
        : values_(embedding.table + std::size_t{index} * width) {}
    ETCH_DEVICE float operator[](std::uint32_t i) const noexcept { return values_[i]; }

  private:
    const float* values_;
};

// Calls use(entry): the loops over an entry are compiled once for each kind of table.
template <class Use>
void with_entry(const S8Embedding& embedding, std::uint32_t index, std::uint32_t width, Use use) noexcept {
    if (embedding.factors == nullptr) {
        use(S8Entry(embedding, index, width));
    } else {
        use(S4Entry(embedding, index, width));
    }
}

template <class Use>
void with_entry(const F32Embedding& embedding, std::uint32_t index, std::uint32_t width, Use use) noexcept {
    use(F32Entry(embedding, index, width));
}

// entry[i] by itself: where the kind of table is asked at each value, since the code of a loop would cost more (GPUs).
ETCH_DEVICE inline float value_of(const S8Embedding& embedding, std::uint32_t index, std::uint32_t width,
                                  std::uint32_t i) noexcept {
    return embedding.factors == nullptr ? S8Entry(embedding, index, width)[i] : S4Entry(embedding, index, width)[i];
}

ETCH_DEVICE inline float value_of(const F32Embedding& embedding, std::uint32_t index, std::uint32_t width,
                                  std::uint32_t i) noexcept {
    return F32Entry(embedding, index, width)[i];
}

}  // namespace
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
