// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "etch/status.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

struct DeviceInfo {
    char name[256];                // ends with 0
    std::uint32_t capability;      // 90 for 9.0
    std::uint32_t driver_version;  // 13000 for CUDA 13.0
    std::uint32_t runtime_version;
    std::size_t memory_bytes;
};

// What device `index` is. Reports the reason where it cannot be used: no device or driver, no device of that index, a
// driver older than the runtime, a GPU older than compute capability 8.0.
Status device_info(int index, DeviceInfo& info) noexcept;

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
