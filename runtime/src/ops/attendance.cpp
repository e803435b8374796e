// SPDX-License-Identifier: Apache-2.0
#include "etch/ops/attendance.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// What run() is called with happens after the constructor, complete() after all tasks: that is the executor's promise,
// so nothing here orders memory.
Attendance::Attendance(std::uint32_t workers) noexcept : workers_(workers) {
    for (std::uint32_t worker = 0; worker < workers; ++worker)
        came_[worker].store(kNever, std::memory_order_relaxed);
}

bool Attendance::enter(std::uint32_t worker) noexcept {
    if (worker >= workers_) return false;
    std::atomic<std::uint8_t>& came = came_[worker];
    std::uint8_t before;
    if constexpr (std::atomic<std::uint8_t>::is_always_lock_free) {
        before = came.exchange(kOnce, std::memory_order_relaxed);
    } else {  // Armv6-M has no exchange: a worker that comes twice at the same time may be missed there
        before = came.load(std::memory_order_relaxed);
        came.store(kOnce, std::memory_order_relaxed);
    }
    if (before == kNever) return true;
    came.store(kAgain, std::memory_order_relaxed);
    return false;
}

bool Attendance::complete() const noexcept {
    for (std::uint32_t worker = 0; worker < workers_; ++worker) {
        if (came_[worker].load(std::memory_order_relaxed) != kOnce) return false;
    }
    return true;
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
