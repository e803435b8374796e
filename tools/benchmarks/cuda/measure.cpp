// SPDX-License-Identifier: Apache-2.0
#include "measure.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace etch::bench {

void fail(const char* what, const char* why) {
    std::fflush(stdout);
    std::fprintf(stderr, "bench-cuda: %s: %s\n", what, why);
    std::exit(1);
}

void check(const char* what, Status status) {
    if (status != Status::ok) fail(what, describe(status));
}

void check(const char* what, cudaError_t error) {
    if (error != cudaSuccess) fail(what, cudaGetErrorString(error));
}

Times times_of(std::vector<double> microseconds) {
    std::sort(microseconds.begin(), microseconds.end());
    const std::size_t count = microseconds.size();
    const double upper = microseconds[count / 2];
    return {count % 2 == 1 ? upper : (microseconds[count / 2 - 1] + upper) / 2,
            microseconds[(count * 95 + 99) / 100 - 1]};
}

}  // namespace etch::bench
