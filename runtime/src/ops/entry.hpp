// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "../kernels/device.hpp"
#include "etch/ops/embedding.hpp"

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

class F32Entry {
  public:
    ETCH_DEVICE F32Entry(const F32Embedding& embedding, std::uint32_t index, std::uint32_t width) noexcept
        : values_(embedding.table + std::size_t{index} * width) {}
    ETCH_DEVICE float operator[](std::uint32_t i) const noexcept { return values_[i]; }

  private:
    const float* values_;
};

ETCH_DEVICE inline S8Entry entry(const S8Embedding& embedding, std::uint32_t index, std::uint32_t width) noexcept {
    return S8Entry(embedding, index, width);
}

ETCH_DEVICE inline F32Entry entry(const F32Embedding& embedding, std::uint32_t index, std::uint32_t width) noexcept {
    return F32Entry(embedding, index, width);
}

}  // namespace
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
