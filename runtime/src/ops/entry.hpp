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

ETCH_DEVICE inline bool has_4_bits(const S8Embedding& embedding) noexcept {
    return embedding.factors != nullptr;
}
ETCH_DEVICE inline bool has_4_bits(const F32Embedding&) noexcept {
    return false;
}

ETCH_DEVICE inline S8Entry whole_entry(const S8Embedding& embedding, std::uint32_t index,
                                       std::uint32_t width) noexcept {
    return S8Entry(embedding, index, width);
}
ETCH_DEVICE inline F32Entry whole_entry(const F32Embedding& embedding, std::uint32_t index,
                                        std::uint32_t width) noexcept {
    return F32Entry(embedding, index, width);
}

// The i-th float of an entry of any kind of table.
ETCH_DEVICE inline float value_of(const S8Embedding& embedding, std::uint32_t index, std::uint32_t width,
                                  std::uint32_t i) noexcept {
    return has_4_bits(embedding) ? S4Entry(embedding, index, width)[i] : S8Entry(embedding, index, width)[i];
}
ETCH_DEVICE inline float value_of(const F32Embedding& embedding, std::uint32_t index, std::uint32_t width,
                                  std::uint32_t i) noexcept {
    return F32Entry(embedding, index, width)[i];
}

constexpr Packing packing_of(TableLayout layout) noexcept {
    return layout == TableLayout::panel ? Packing::panel : Packing::rows;
}

ETCH_DEVICE inline float value_of(const TiedS8Embedding& embedding, std::uint32_t index, std::uint32_t width,
                                  std::uint32_t i) noexcept {
    const S8Embedding& table = embedding.table;
    if (embedding.layout == TableLayout::entries) return value_of(table, index, width, i);
    const Packing packing = packing_of(embedding.layout);
    if (!has_4_bits(table))
        return static_cast<float>(table.table[packed_s8_index(packing, index, i, width)]) * table.scales[index];
    const int q = s4_value(table.table[packed_s4_index(packing, index, i, width)], packed_s4_high(packing, i));
    const int factor = table.factors[packed_s4_factor_index(packing, index, i, width)];
    return static_cast<float>(q * factor) * table.scales[index];
}
ETCH_DEVICE inline float value_of(const TiedF32Embedding& embedding, std::uint32_t index, std::uint32_t width,
                                  std::uint32_t i) noexcept {
    if (embedding.layout == TableLayout::entries) return value_of(embedding.table, index, width, i);
    return embedding.table.table[packed_f32_index(packing_of(embedding.layout), index, i, width)];
}

}  // namespace
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
