// SPDX-License-Identifier: Apache-2.0
// Where the buffers of a call lie that are not in its workspace: other memory of the processor, cheaper to read and
// write.
#pragma once

#include <cstddef>
#include <cstdint>

#include "etch/alignment.hpp"
#include "etch/status.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// Of a workspace: a region of so many Bytes each, in the order of the generated header's kRegion... indices. The
// caller's memory, which no other workspace may have at the same time; it stays where it is while a call is under way.
template <std::size_t... Bytes>
class Regions {
  public:
    static constexpr std::size_t kCount = sizeof...(Bytes);
    static constexpr std::size_t kBytes[kCount] = {Bytes...};
    static constexpr std::uintptr_t kAlignment = kMemoryAlignment;

    // Where a region begins, at a multiple of kAlignment; null: it is missing.
    std::uint8_t*& operator[](std::size_t region) noexcept { return begins_[region]; }
    std::uint8_t* operator[](std::size_t region) const noexcept { return begins_[region]; }

    // Status::ok, region_missing or region_misaligned.
    Status check() const noexcept {
        Status status = Status::ok;
        for (const std::uint8_t* const begin : begins_) {
            if (begin == nullptr) return Status::region_missing;
            if (reinterpret_cast<std::uintptr_t>(begin) % kAlignment != 0) status = Status::region_misaligned;
        }
        return status;
    }

  private:
    std::uint8_t* begins_[kCount] = {};
};

// Everything lies in the workspace.
template <>
class Regions<> {
  public:
    static constexpr std::size_t kCount = 0;
    constexpr Status check() const noexcept { return Status::ok; }
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
