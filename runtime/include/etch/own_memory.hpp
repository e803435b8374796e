// SPDX-License-Identifier: Apache-2.0
// A workspace with its regions behind it and its model's tables copied, for programs in which all memory is the same.
#pragma once

#include <cstddef>
#include <cstdint>

#include "etch/alignment.hpp"
#include "etch/regions.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// Memory for regions: give() says where it is.
template <class RegionsOfModel>
class OwnMemory;

template <std::size_t... Bytes>
class OwnMemory<Regions<Bytes...>> {
  public:
    void give(Regions<Bytes...>& regions) noexcept {
        std::size_t at = 0;
        for (std::size_t i = 0; i < regions.kCount; ++i) {
            regions[i] = memory_ + at;
            at += aligned_bytes(regions.kBytes[i]);
        }
    }

  private:
    alignas(kMemoryAlignment) std::uint8_t memory_[(aligned_bytes(Bytes) + ...)] = {};
};

template <>
class OwnMemory<Regions<>> {
  public:
    constexpr void give(const Regions<>&) const noexcept {}
};

// Constant-initialized where there are no regions and no tables to copy.
template <class Workspace>
class WithOwnMemory : public Workspace {
  public:
    constexpr WithOwnMemory() noexcept {
        memory_.give(this->regions);
        if (Workspace::Tables::check() != Status::ok) Workspace::Tables::copy();
    }

  private:
    OwnMemory<typename Workspace::Beside> memory_;
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
