// SPDX-License-Identifier: Apache-2.0
// Several threads for one inference. The runtime starts none: the caller brings them as a function, from
// libetch_hosted.a (hosted/thread_pool.hpp), an RTOS, or an application's own pool.
#pragma once

#include <cstdint>

#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// The first of the units that worker `worker` of `workers` gets of `units`; the next worker's first is its end.
constexpr std::uint32_t first_unit_of(std::uint32_t worker, std::uint32_t workers, std::uint32_t units) noexcept {
    return static_cast<std::uint32_t>(std::uint64_t{units} * worker / workers);
}

// A workspace points to one, which outlives its calls. Two workspaces that are used at the same time need two of them,
// or one whose run() may be called by both. Its memory belongs to it alone.
struct Executor {
    // The bits do not depend on it; 0 counts as 1. No more than 64 of them get a part.
    std::uint32_t workers;

    void* context;

    // Calls task(argument, w) once for every w in [0, workers), in any order or at the same time, and returns when all
    // of them have returned: what was written before it is seen by the tasks, what they wrote by the caller. Where one
    // with a part to do was not called, or called again, the call fails with Status::executor_failed. A task uses the
    // stack that the model's header promises at most; how its thread rounds floats does not matter.
    void (*run)(void* context, void (*task)(void* argument, std::uint32_t worker), void* argument) noexcept;

    // [workers - 1][the model's kScratchBytes], the first 64-byte aligned; worker 0 has that of the workspace. Null
    // where workers is 1.
    std::uint8_t* scratch;
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
