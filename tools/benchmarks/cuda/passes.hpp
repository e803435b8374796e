// SPDX-License-Identifier: Apache-2.0
// What is measured of one shape: a number of texts of equal length.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "measure.hpp"

namespace etch::bench {

struct Shape {
    std::uint32_t texts;
    std::uint32_t tokens;
};

struct PassTimes {
    Times call;        // from token ids (of several texts: staged) to the answer, on the CPU's clock
    double gpu;        // between two events, both copies included
    double bound;      // the same with an empty kernel in place of each of ours: a CUDA graph, on the CPU's clock
    double bound_gpu;  // between two events
};

PassTimes measure_pass(const Shape& shape, const Effort& effort);

struct OpTime {
    std::string op;
    std::uint32_t calls;
    double microseconds;  // of all of them
};

// Each op between two events, in the order of their first call.
std::vector<OpTime> measure_ops(const Shape& shape, const Effort& effort);

}  // namespace etch::bench
