// SPDX-License-Identifier: Apache-2.0
#include "etch/hosted.hpp"

// clang-format off
#include <windows.h>
#include <psapi.h>  // needs the types of the other
// clang-format on

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace hosted {

std::size_t peak_memory_bytes() noexcept {
    PROCESS_MEMORY_COUNTERS counters = {};
    if (GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters) == 0) return 0;
    return counters.PeakWorkingSetSize;
}

}  // namespace hosted
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
