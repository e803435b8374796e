// SPDX-License-Identifier: Apache-2.0
// CPU limits of control groups: files of a few numbers.
#pragma once

#include <cstdint>
#include <string_view>

#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace hosted {

constexpr std::uint32_t kNoLimit = UINT32_MAX;

// Processors that the control groups allow: `groups` is the text of /proc/self/cgroup, `root` where their file system
// is mounted, /sys/fs/cgroup. The group and all those above it count, as far as they can be seen from here: in a
// container the group itself is mounted at the root.
std::uint32_t processors_of_groups(std::string_view groups, std::string_view root) noexcept;

}  // namespace hosted
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
