// SPDX-License-Identifier: Apache-2.0
// One text shared by 1 to 8 threads of the hosted pool: the same bits as in one thread, on every kernel and at every
// length; with an argument at a few of them. Exit code 0 where they are; built once more under ThreadSanitizer, which
// ends the program with another code where two workers race.
#include <agnews.hpp>
#include <cstdio>
#include <cstring>
#include <vector>

#include "etch/hosted.hpp"

namespace {

using namespace etch;

#if defined(ETCH_SANITIZED) || !defined(__OPTIMIZE__)
constexpr bool kSlow = true;  // the sanitizer is, and so is a build that counts lines
#else
constexpr bool kSlow = false;
#endif
using Numbers = std::vector<std::uint32_t>;
const Numbers kThreads = {1, 2, 3, 4, 5, 6, 7, 8};
const Numbers kLengths = {1, 2, 15, 16, 17, 44, 130, 221, agnews::kMaxTokens - 1, agnews::kMaxTokens};
const Numbers kFewThreads = {2, 3, 8};
const Numbers kFewLengths = {1, 44, agnews::kMaxTokens};
constexpr std::uint32_t kMostThreads = 8;

alignas(64) std::uint8_t scratch[(kMostThreads - 1) * agnews::kScratchBytes];
agnews::Workspace alone;
agnews::Workspace shared;

// Counts how often an executor was asked, so that a test that shares nothing fails.
std::uint64_t forks = 0;
hosted::ThreadPool* pool_in_use = nullptr;

void counted_run(void*, void (*task)(void*, std::uint32_t), void* argument) noexcept {
    ++forks;
    pool_in_use->run(task, argument);
}

bool same(const agnews::Result& a, const agnews::Result& b) {
    return a.label == b.label && a.tokens == b.tokens && a.truncated == b.truncated &&
           std::memcmp(a.logits, b.logits, sizeof a.logits) == 0 &&
           std::memcmp(a.probability, b.probability, sizeof a.probability) == 0;
}

bool same_at(std::uint32_t length) {
    std::vector<std::int32_t> ids;
    for (std::uint32_t i = 0; i < length; ++i)
        ids.push_back(static_cast<std::int32_t>(1000 + 37 * i % 5000));
    agnews::Result expected{};
    agnews::Result result{};
    return agnews::classify_tokens(alone, ids.data(), nullptr, length, expected) == Status::ok &&
           agnews::classify_tokens(shared, ids.data(), nullptr, length, result) == Status::ok && same(expected, result);
}

}  // namespace

int main(int count, char**) {
    const bool few = kSlow || count > 1;
    std::size_t kernels = 0;
    for (; !agnews::usable_kernel(kernels).empty(); ++kernels) {
        if (agnews::select_kernel(shared, agnews::usable_kernel(kernels)) != Status::ok) return 1;
        for (const std::uint32_t threads : few ? kFewThreads : kThreads) {
            hosted::ThreadPool pool(threads);
            if (pool.threads() != threads) return 1;
            Executor executor = pool.executor(scratch);
            executor.run = counted_run;
            pool_in_use = &pool;
            shared.executor = &executor;
            for (const std::uint32_t length : few ? kFewLengths : kLengths) {
                if (!same_at(length)) {
                    std::printf("different bits with %u threads and %u tokens\n", threads, length);
                    return 1;
                }
            }
        }
    }
    if (forks == 0) {
        std::printf("nothing was shared\n");
        return 1;
    }
    std::printf("%zu kernels, %llu shared ops: same bits\n", kernels, static_cast<unsigned long long>(forks));
    return 0;
}
