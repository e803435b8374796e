// SPDX-License-Identifier: Apache-2.0
#include <windows.h>

#include "etch/hosted/thread_pool.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace hosted {

// Those that the process may run on, of the at most 64 of its group. A limit of a job's time is not seen.
std::uint32_t available_threads() noexcept {
    DWORD_PTR allowed = 0;
    DWORD_PTR there = 0;
    if (GetProcessAffinityMask(GetCurrentProcess(), &allowed, &there) == 0 || allowed == 0) return 1;
    return static_cast<std::uint32_t>(__builtin_popcountll(allowed));
}

}  // namespace hosted
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
