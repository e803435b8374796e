/* SPDX-License-Identifier: Apache-2.0
 *
 * The hosted library's threads for etch_model.h. */
#include <memory>
#include <vector>

#include "etch/etch.h"
#include "etch/hosted/thread_pool.hpp"

namespace {

std::unique_ptr<etch::hosted::ThreadPool> pool;
std::vector<std::uint8_t> scratch;

void run(void*, void (*task)(void* argument, std::uint32_t worker), void* argument) {
    pool->run(task, argument);
}

}  // namespace

// Workers is 1 where the system refuses the threads.
extern "C" etch_executor peer_executor(std::uint32_t threads, std::size_t scratch_bytes) {
    constexpr std::size_t kAlignment = 64;
    pool = std::make_unique<etch::hosted::ThreadPool>(threads);
    scratch.resize((pool->threads() - 1) * scratch_bytes + kAlignment);
    const auto address = reinterpret_cast<std::uintptr_t>(scratch.data());
    return {pool->threads(), nullptr, run, scratch.data() + (kAlignment - address % kAlignment) % kAlignment};
}
