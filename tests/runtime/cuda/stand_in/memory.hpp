// SPDX-License-Identifier: Apache-2.0
// Device memory: pages that nothing can touch but submitted work, between guard pages, filled with a byte pattern that
// is a NaN in every float format. What lies behind an allocation's last byte is checked when it is freed.
#pragma once

#include <cstddef>

namespace etch_stand_in {

// While one of these lives, device memory can be read and written. They nest.
class DeviceAccess {
  public:
    DeviceAccess();
    ~DeviceAccess();
    DeviceAccess(const DeviceAccess&) = delete;
    DeviceAccess& operator=(const DeviceAccess&) = delete;
};

enum class Where { device, pinned, elsewhere, outside };  // outside: begins in an allocation and passes its end

// Where the bytes [begin, begin + count) lie.
Where where_is(const void* begin, std::size_t count);

// Allocations of device memory whose surroundings were written to, found when they were freed.
int overruns();

}  // namespace etch_stand_in
