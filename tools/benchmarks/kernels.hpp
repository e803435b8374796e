// SPDX-License-Identifier: Apache-2.0
// The parts of bench-kernels.
#pragma once

#include "kernels/kernel_set.hpp"
#include "options.hpp"

namespace etch::bench {

// Each registers its benchmarks for one kernel set.
void register_matmul(const KernelSet& set, const Options& options);
void register_rows(const KernelSet& set, const Options& options);
void register_attention(const KernelSet& set, const Options& options);

}  // namespace etch::bench
