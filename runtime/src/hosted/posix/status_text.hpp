// SPDX-License-Identifier: Apache-2.0
// The text of /proc/self/status: lines of "Key:  123 kB".
#pragma once

#include <cstddef>
#include <string_view>

#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace hosted {

// The number behind `key`; 0 where there is none.
inline std::size_t kilobytes_of(std::string_view status, std::string_view key) noexcept {
    const std::size_t found = status.find(key);
    if (found == std::string_view::npos) return 0;
    std::size_t at = found + key.size();
    while (at < status.size() && (status[at] == ' ' || status[at] == '\t'))
        ++at;
    std::size_t value = 0;
    for (; at < status.size() && status[at] >= '0' && status[at] <= '9'; ++at)
        value = value * 10 + static_cast<std::size_t>(status[at] - '0');
    return value;
}

}  // namespace hosted
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
