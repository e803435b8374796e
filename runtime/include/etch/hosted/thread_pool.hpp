// SPDX-License-Identifier: Apache-2.0
// Threads for a workspace's Executor, under an operating system with POSIX threads. Part of libetch_hosted.a.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "etch/executor.hpp"
#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace hosted {

// Processors that this process may use: those of its affinity mask, at most what the CPU limits of its control groups
// (v2 and v1) give, rounded down; at least 1. On Windows those of its affinity mask.
std::uint32_t available_threads() noexcept;

// The calling thread and `threads` - 1 others, which live as long as the object. Each run() is one fork and join: a
// waiting thread looks for 0.1 ms and then sleeps; at once where there are more threads than processors. A worker whose
// thread has not begun when the calling thread is done with its own part is done by that one, too: nobody waits for a
// thread that is asleep or that the system runs later. One run() at a time. Nothing is allocated after the
// construction. A child that fork() made has none of these threads: it makes a pool of its own, and neither runs nor
// destroys its parent's.
class ThreadPool {
  public:
    static constexpr std::uint32_t kMostThreads = 64;

    // Check threads() afterwards: 1 where `threads` is 0 or above kMostThreads, or the system refused one of them.
    explicit ThreadPool(std::uint32_t threads) noexcept;
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    std::uint32_t threads() const noexcept { return threads_; }

    // Task(argument, worker) once for each worker in [0, threads()), worker 0 in the calling thread.
    void run(void (*task)(void* argument, std::uint32_t worker), void* argument) noexcept;

    // For a workspace; `scratch` is [threads() - 1][the model's kScratchBytes], 64-byte aligned. Valid as long as both.
    Executor executor(std::uint8_t* scratch) noexcept;

  private:
    using Task = void (*)(void* argument, std::uint32_t worker);

    struct Worker {
        ThreadPool* pool;
        std::uint32_t index;  // from 1
        pthread_t thread;

        // What a round hands to the worker, on a cache line that it looks at while others work. 2 * round: its part
        // waits for someone to do it; + 1: someone does.
        alignas(64) std::atomic<std::uint64_t> ticket{0};
        Task task = nullptr;  // with its argument, of whoever takes the part
        void* argument = nullptr;

        bool take(std::uint64_t round) noexcept {
            std::uint64_t open = 2 * round;
            return ticket.load(std::memory_order_relaxed) == open && ticket.compare_exchange_strong(open, open + 1);
        }
    };

    static void* main_of(void* worker) noexcept;
    std::uint64_t round_after(const Worker& worker, std::uint64_t round) noexcept;
    void begin_round(Task task, void* argument) noexcept;
    void finish_part() noexcept;
    void wait_for_workers() noexcept;
    void stop() noexcept;

    std::uint32_t threads_ = 1;
    bool looks_ = false;       // before a thread goes to sleep
    std::uint64_t round_ = 0;  // how many were begun

    // On cache lines of their own.
    alignas(64) std::atomic<std::uint64_t> finished_{0};  // parts of all rounds but each one's first
    alignas(64) std::atomic<std::uint32_t> sleeping_{0};  // workers that need to be woken
    std::atomic<bool> caller_sleeps_{false};
    std::atomic<bool> stopping_{false};

    pthread_mutex_t mutex_;
    pthread_cond_t begin_;
    pthread_cond_t end_;
    Worker workers_[kMostThreads - 1];
};

}  // namespace hosted
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
