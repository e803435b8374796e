// SPDX-License-Identifier: Apache-2.0
#include "threads.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "../failure.hpp"
#include "../model.hpp"
#include "etch/alignment.hpp"
#include "etch/hosted/thread_pool.hpp"

namespace etch::cli {
namespace {

std::optional<hosted::ThreadPool> pool;
std::vector<std::uint8_t> scratch;
Executor executor = {};

std::uint8_t* aligned(std::vector<std::uint8_t>& bytes) {
    const auto address = reinterpret_cast<std::uintptr_t>(bytes.data());
    return bytes.data() + (kMemoryAlignment - address % kMemoryAlignment) % kMemoryAlignment;
}

}  // namespace

void use_threads(std::uint32_t threads) {
    const std::uint32_t available = hosted::available_threads();
    if (threads == 0) {
        threads = std::min(available, hosted::ThreadPool::kMostThreads);
    }
    set_executor(nullptr);
    pool.reset();
    if (threads == 1) {
        return;
    }
    if (threads > available) {
        std::fprintf(stderr, "%s: %u threads, but only %u processor%s may be used\n",
                     std::string(kModel.program).c_str(), threads, available, available == 1 ? "" : "s");
    }
    pool.emplace(threads);
    if (pool->threads() != threads) {
        fail(kRunFailure, "cannot start %u threads", threads);
    }
    scratch.resize((threads - 1) * kModel.scratch_bytes + kMemoryAlignment);
    executor = pool->executor(aligned(scratch));
    set_executor(&executor);
}

std::uint32_t threads() {
    return pool ? pool->threads() : 1;
}

}  // namespace etch::cli
