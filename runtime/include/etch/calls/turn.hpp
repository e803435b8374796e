// SPDX-License-Identifier: Apache-2.0
// One call at a time in a workspace that has all its memory, of a model that has all its tables. Whoever comes
// meanwhile, another thread or an interrupt, is sent away with Status::workspace_in_use and has read and written
// nothing of it. A call treats floats as the arithmetic contract says, not as its thread does, from its tokenizer on.
#pragma once

#include <atomic>
#include <cstdint>

#include "etch/float_mode.hpp"
#include "etch/status.hpp"
#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace calls {

// Has a workspace from its construction to its destruction, where nobody else had it and regions and tables are there;
// where it says false, the call ends with refusal(). `user` is the workspace's member in_use: 0, or that it is in use,
// or for which call its holder has lent it.
class Turn {
  public:
    // A workspace that is lent to the call that writes `result` is free for that call.
    template <class Workspace>
    [[gnu::always_inline]] explicit Turn(Workspace& workspace, const void* result = nullptr) noexcept
        : Turn(workspace.in_use, result) {
        if (!has_it_) return;
        memory_ = Workspace::Tables::check();
        if (memory_ == Status::ok) memory_ = workspace.regions.check();
    }

    // Of a call that works in none of its memory.
    [[gnu::always_inline]] explicit Turn(std::atomic<std::uintptr_t>& user, const void* result = nullptr) noexcept
        : user_(user), before_(kNobody), has_it_(take()) {
        if (has_it_ || result == nullptr) return;
        before_ = reinterpret_cast<std::uintptr_t>(result);
        has_it_ = take();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    [[gnu::always_inline]] ~Turn() {
        if (has_it_) user_.store(before_, std::memory_order_release);
    }

    explicit operator bool() const noexcept { return has_it_ && memory_ == Status::ok; }

    Status refusal() const noexcept { return has_it_ ? memory_ : Status::workspace_in_use; }

    // From here on calls of the same thread that write `result`, no other address, find the workspace free.
    void lend(const void* result) const noexcept {
        user_.store(reinterpret_cast<std::uintptr_t>(result), std::memory_order_release);
    }

  private:
    enum : std::uintptr_t { kNobody = 0, kSomebody = 1 };

    [[gnu::always_inline]] bool take() noexcept {
        if constexpr (std::atomic<std::uintptr_t>::is_always_lock_free) {
            std::uintptr_t expected = before_;
            return user_.compare_exchange_strong(expected, kSomebody, std::memory_order_acquire,
                                                 std::memory_order_relaxed);
        } else {  // Armv6-M: of two threads that come at once both may get in; an interrupt's call ends before it
                  // returns
            if (user_.load(std::memory_order_acquire) != before_) return false;
            user_.store(kSomebody, std::memory_order_relaxed);
            return true;
        }
    }

    std::atomic<std::uintptr_t>& user_;
    std::uintptr_t before_;
    bool has_it_;
    Status memory_ = Status::ok;
    FloatMode mode_;
};

}  // namespace calls
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
