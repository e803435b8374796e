// SPDX-License-Identifier: Apache-2.0
// One generated model as the benchmarks see it; model_calls.cpp is compiled once for each.
#pragma once

#include <cstdint>
#include <string_view>

namespace etch::bench {

// One run of an op of the forward pass.
struct OpRun {
    std::string_view type;  // name of the op's C++ type
    std::uint32_t rows;
    std::uint32_t inputs;  // of a linear, else 0
    std::uint32_t outputs;
    double macs;  // multiplications of its matrix products; 0: none
    std::uint64_t nanoseconds;
};

using TakeOpRun = void (*)(void* context, const OpRun& run);

struct ModelCalls {
    std::string_view name;
    std::string_view recipe;
    std::uint32_t max_tokens;
    std::uint32_t vocabulary;
    bool (*select_kernel)(std::string_view name);
    std::string_view (*kernel)();
    bool (*share)(std::uint32_t threads);  // run() is shared by so many from now on; false: they cannot be had
    bool (*run)(const std::int32_t* ids, std::uint32_t count);  // the public call on token ids
    std::uint32_t (*encode)(std::string_view text);             // tokens; 0 on failure
    bool (*take_turn)();  // at the workspace, as every public call does first, and gives it back
    // The forward pass once, each op timed, in the threads of share().
    void (*run_ops)(const std::int32_t* ids, std::uint32_t count, TakeOpRun take, void* context);
};

extern const ModelCalls kModelCalls;

}  // namespace etch::bench
