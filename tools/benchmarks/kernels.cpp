// SPDX-License-Identifier: Apache-2.0
// bench-kernels.
#include "kernels.hpp"

#include <cstdio>

#include "benchmarks.hpp"
#include "operands.hpp"

namespace etch::bench {

bool register_benchmarks(const Options& options) {
    const auto sets = usable_sets(options.kernel);
    if (sets.empty()) std::fprintf(stderr, "no kernel set '%s' that this CPU can run\n", options.kernel.c_str());
    for (const KernelSet* set : sets)
        register_matmul(*set, options);
    for (const KernelSet* set : sets)
        register_rows(*set, options);
    for (const KernelSet* set : sets)
        register_attention(*set, options);
    return !sets.empty();
}

void run_further(const Options&, Table&) {}

}  // namespace etch::bench
