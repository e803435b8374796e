// SPDX-License-Identifier: Apache-2.0
// Which workers of an executor have done their part of an op. Each does so once, or the op's results are wrong.
#pragma once

#include <atomic>
#include <cstdint>

#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// Workers that share an op at most, however many the executor has.
inline constexpr std::uint32_t kMostSharing = 64;

class Attendance {
  public:
    // Of the workers [0, workers), at most kMostSharing.
    explicit Attendance(std::uint32_t workers) noexcept;

    // Whether the worker has a part to do: it is one of them, and has not come before. Safe from several threads.
    bool enter(std::uint32_t worker) noexcept;

    // After the executor's run() has returned: whether each of them has come, and none again.
    bool complete() const noexcept;

  private:
    enum : std::uint8_t { kNever, kOnce, kAgain };

    std::uint32_t workers_;
    std::atomic<std::uint8_t> came_[kMostSharing];
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
