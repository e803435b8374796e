// SPDX-License-Identifier: Apache-2.0
// An executor that forgets a worker of an op, or calls one again, is found out: the call says so and writes no result.
// The next one is right again. Workers that have no part to do may be forgotten.
#include <agnews.hpp>
#include <cstdio>
#include <cstring>

#include "texts.hpp"

namespace {

using namespace etch;

constexpr std::uint32_t kWorkers = 4;
alignas(64) std::uint8_t scratch[(kWorkers - 1) * agnews::kScratchBytes];
agnews::Workspace workspace;

// What it does wrong: from the `op`-th op that is shared on, or in this one only, it calls `worker` so many times.
struct Fault {
    std::uint32_t op;
    bool once;
    std::uint32_t worker;
    std::uint32_t times;
};

struct Session {
    Fault fault;
    std::uint32_t ops = 0;
};

void run_all(void* context, void (*task)(void*, std::uint32_t), void* argument) noexcept {
    Session& session = *static_cast<Session*>(context);
    const Fault& fault = session.fault;
    const bool wrong = fault.once ? session.ops == fault.op : session.ops >= fault.op;
    ++session.ops;
    for (std::uint32_t worker = 0; worker < kWorkers; ++worker) {
        const std::uint32_t times = wrong && worker == fault.worker ? fault.times : 1;
        for (std::uint32_t i = 0; i < times; ++i)
            task(argument, worker);
    }
    task(argument, kWorkers);  // nobody
    task(argument, ~std::uint32_t{0});
}

bool fails(const Fault& fault, std::string_view text, Status& status) {
    Session session{fault};
    const Executor executor{kWorkers, &session, run_all, scratch};
    agnews::Result result;
    agnews::Result untouched;
    std::memset(static_cast<void*>(&result), 0x5C, sizeof result);
    std::memset(static_cast<void*>(&untouched), 0x5C, sizeof untouched);
    workspace.executor = &executor;
    status = agnews::classify(workspace, text, result);
    workspace.executor = nullptr;
    return status == Status::executor_failed && std::memcmp(&result, &untouched, sizeof result) == 0;
}

}  // namespace

int main() {
    const std::string_view text = promises::kMiddleText;
    agnews::Result expected{};
    agnews::Result result{};
    if (agnews::classify(workspace, text, expected) != Status::ok) return 1;

    Session session{{0, true, 0, 1}};  // does all right
    const Executor executor{kWorkers, &session, run_all, scratch};
    workspace.executor = &executor;
    if (agnews::classify(workspace, text, result) != Status::ok) return 1;
    if (std::memcmp(&result, &expected, sizeof result) != 0 || session.ops < 10) return 1;

    int faults = 0;
    for (const std::uint32_t op : {0u, 1u, 5u, session.ops - 1}) {
        for (const bool once : {false, true}) {
            for (std::uint32_t worker = 0; worker < 2; ++worker) {  // an op that is shared has at least these
                for (const std::uint32_t times : {0u, 2u, 3u}) {
                    Status status;
                    if (!fails({op, once, worker, times}, text, status)) {
                        std::printf("op %u, worker %u, %u times: %s\n", op, worker, times, describe(status));
                        return 1;
                    }
                    ++faults;
                }
            }
        }
    }

    const std::string_view texts[] = {text, text};
    agnews::Result results[2];
    session = {{3, false, 1, 0}};
    workspace.executor = &executor;
    if (agnews::classify_batch(workspace, texts, 2, results) != Status::executor_failed) return 1;
    session = {{0, true, 0, 1}};
    if (agnews::classify_batch(workspace, texts, 2, results) != Status::ok) return 1;
    for (const agnews::Result& one : results) {
        if (std::memcmp(one.logits, expected.logits, sizeof one.logits) != 0) return 1;
    }
    std::printf("%d faults found: same bits\n", faults);
    return 0;
}
