// SPDX-License-Identifier: Apache-2.0
#include "threads.hpp"

#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>

#include "etch/hosted/thread_pool.hpp"
#include "failure.hpp"
#include "model.hpp"

namespace etch::cli {
namespace {

constexpr std::align_val_t kScratchAlignment{64};

std::uint32_t used = 1;

}  // namespace

void use_threads(std::uint32_t threads) {
    const std::uint32_t available = hosted::available_threads();
    if (threads == 0) {
        threads = available < hosted::ThreadPool::kMostThreads ? available : hosted::ThreadPool::kMostThreads;
    }
    if (threads == 1) {
        return;
    }
    if (threads > available) {
        std::fprintf(stderr, "%s: %u threads, but only %u processor%s may be used\n",
                     std::string(kModel.program).c_str(), threads, available, available == 1 ? "" : "s");
    }
    static hosted::ThreadPool pool(threads);
    if (pool.threads() != threads) {
        fail(kRunFailure, "cannot start %u threads", threads);
    }
    static const Executor executor = pool.executor(
        static_cast<std::uint8_t*>(operator new((threads - 1) * kModel.scratch_bytes, kScratchAlignment)));
    set_executor(executor);
    used = threads;
}

std::uint32_t threads() {
    return used;
}

}  // namespace etch::cli
