// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "control_groups.hpp"
#include "etch/hosted/thread_pool.hpp"
#include "small_file.hpp"
#if defined(__linux__)
#include <sched.h>
#endif

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace hosted {
namespace {

std::uint32_t processors_of_affinity() noexcept {
    long count = 0;
#if defined(__linux__)
    cpu_set_t set;  // has room for 1,024 processors
    if (sched_getaffinity(0, sizeof set, &set) == 0) count = CPU_COUNT(&set);
#endif
    if (count == 0) count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? static_cast<std::uint32_t>(count) : 1;
}

}  // namespace

std::uint32_t available_threads() noexcept {
    char groups[4096];
    const std::uint32_t allowed =
        processors_of_groups(read_small_file("/proc/self/cgroup", groups, sizeof groups), "/sys/fs/cgroup");
    const std::uint32_t processors = processors_of_affinity();
    return allowed < processors ? allowed : processors;
}

}  // namespace hosted
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
