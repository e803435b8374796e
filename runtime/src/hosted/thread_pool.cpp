// SPDX-License-Identifier: Apache-2.0
#include "etch/hosted/thread_pool.hpp"

#include "etch/hosted.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace hosted {
namespace {

// How long a thread looks before it sleeps: a forward pass forks every few microseconds to milliseconds, and waking a
// thread takes some 50. By the clock, as a pause is 10 ns long on one CPU and 60 on another.
constexpr std::uint64_t kLookingNanoseconds = 100'000;
constexpr std::uint32_t kLooks = 50;  // from one look at the clock to the next

void pause() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb" ::: "memory");
#endif
}

// Whether `done` came true meanwhile.
template <class Done>
bool look(Done done) noexcept {
    std::uint64_t begin = 0;
    for (;;) {
        for (std::uint32_t i = 0; i < kLooks; ++i) {
            if (done()) return true;
            pause();
        }
        const std::uint64_t now = monotonic_nanoseconds();
        if (begin == 0) begin = now;
        if (now - begin >= kLookingNanoseconds) return false;
    }
}

}  // namespace

ThreadPool::ThreadPool(std::uint32_t threads) noexcept {
    pthread_mutex_init(&mutex_, nullptr);
    pthread_cond_init(&begin_, nullptr);
    pthread_cond_init(&end_, nullptr);
    if (threads == 0 || threads > kMostThreads) return;
    looks_ = threads <= available_threads();
    while (threads_ < threads) {
        Worker& worker = workers_[threads_ - 1];
        worker.pool = this;
        worker.index = threads_;
        if (pthread_create(&worker.thread, nullptr, main_of, &worker) != 0) {
            stop();
            return;
        }
        ++threads_;
    }
}

ThreadPool::~ThreadPool() {
    stop();
    pthread_cond_destroy(&end_);
    pthread_cond_destroy(&begin_);
    pthread_mutex_destroy(&mutex_);
}

void ThreadPool::stop() noexcept {
    if (threads_ == 1) return;
    stopping_.store(true);
    begin_round(nullptr, nullptr);
    for (std::uint32_t i = 1; i < threads_; ++i)
        pthread_join(workers_[i - 1].thread, nullptr);
    threads_ = 1;
}

// Who goes to sleep counts itself first and looks at its ticket then. Of that addition and the one here, both of one
// number, one is the later: it sees the sleeper, or the ticket.
void ThreadPool::begin_round(Task task, void* argument) noexcept {
    ++round_;
    for (std::uint32_t i = 1; i < threads_; ++i) {
        Worker& worker = workers_[i - 1];
        worker.task = task;
        worker.argument = argument;
        worker.ticket.store(2 * round_, std::memory_order_release);
    }
    if (sleeping_.fetch_add(0) == 0) return;
    pthread_mutex_lock(&mutex_);
    pthread_cond_broadcast(&begin_);
    pthread_mutex_unlock(&mutex_);
}

// The worker's next round after that one, once it has begun.
std::uint64_t ThreadPool::round_after(const Worker& worker, std::uint64_t round) noexcept {
    const auto begun = [&] { return worker.ticket.load(std::memory_order_acquire) / 2 != round; };
    if (!looks_ || !look(begun)) {
        pthread_mutex_lock(&mutex_);
        sleeping_.fetch_add(1);
        while (!begun())
            pthread_cond_wait(&begin_, &mutex_);
        sleeping_.fetch_sub(1);
        pthread_mutex_unlock(&mutex_);
    }
    return worker.ticket.load(std::memory_order_acquire) / 2;
}

void* ThreadPool::main_of(void* argument) noexcept {
    Worker& worker = *static_cast<Worker*>(argument);
    ThreadPool& pool = *worker.pool;
    for (std::uint64_t round = 0;;) {
        round = pool.round_after(worker, round);
        if (pool.stopping_.load()) return nullptr;
        if (!worker.take(round)) continue;  // done without it; with the ticket the round cannot end before it does
        worker.task(worker.argument, worker.index);
        pool.finish_part();
    }
}

// Sequentially consistent, as what the caller does before it sleeps: either it sees the part, or it is seen here.
void ThreadPool::finish_part() noexcept {
    finished_.fetch_add(1);
    if (!caller_sleeps_.load()) return;
    pthread_mutex_lock(&mutex_);
    pthread_cond_signal(&end_);
    pthread_mutex_unlock(&mutex_);
}

void ThreadPool::wait_for_workers() noexcept {
    const std::uint64_t all = round_ * (threads_ - 1);
    const auto done = [&] { return finished_.load(std::memory_order_acquire) == all; };
    if (looks_ && look(done)) return;
    pthread_mutex_lock(&mutex_);
    caller_sleeps_.store(true);
    while (finished_.load() != all)
        pthread_cond_wait(&end_, &mutex_);
    caller_sleeps_.store(false);
    pthread_mutex_unlock(&mutex_);
}

void ThreadPool::run(Task task, void* argument) noexcept {
    if (threads_ == 1) {
        task(argument, 0);
        return;
    }
    begin_round(task, argument);
    task(argument, 0);
    for (std::uint32_t i = 1; i < threads_; ++i) {
        if (!workers_[i - 1].take(round_)) continue;
        task(argument, i);
        finished_.fetch_add(1);
    }
    wait_for_workers();
}

Executor ThreadPool::executor(std::uint8_t* scratch) noexcept {
    const auto run = [](void* pool, void (*task)(void*, std::uint32_t), void* argument) noexcept {
        static_cast<ThreadPool*>(pool)->run(task, argument);
    };
    return {threads_, this, run, scratch};
}

}  // namespace hosted
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
