// SPDX-License-Identifier: Apache-2.0
#include <ctime>

#include "etch/hosted.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace hosted {

std::uint64_t monotonic_nanoseconds() noexcept {
    timespec now = {};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1000000000U + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace hosted
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
