// SPDX-License-Identifier: Apache-2.0
// One generated model that writes, as the benchmarks see it; writer_calls.cpp is compiled once for each.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "limits.hpp"

namespace etch::bench {

// One step of a decoder: a token is read, and the one behind it chosen.
struct Step {
    std::uint64_t nanoseconds = 0;  // of all its ops
    std::uint64_t in_products = 0;  // of those that multiply with weights
    std::vector<Bytes> weights;     // that they read, in their order
};

using TakeStep = void (*)(void* context, const Step& step);

struct WriterCalls {
    std::string_view name;
    std::uint32_t max_target;
    bool (*select_kernel)(std::string_view name);
    std::string_view (*kernel)();
    // Writes so many tokens greedily, a text that ends begun again, and hands over each step; false: the model refuses.
    bool (*write)(std::uint32_t count, TakeStep take, void* context);
};

extern const WriterCalls kWriterCalls;

}  // namespace etch::bench
