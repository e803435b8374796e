// SPDX-License-Identifier: Apache-2.0
// The counters of kernels/call_count.hpp, for tests built with ETCH_COUNT_KERNEL_CALLS.
#pragma once

#include <string_view>

#include "kernels/call_count.hpp"
#include "kernels/kernel_set.hpp"

#if defined(ETCH_COUNT_KERNEL_CALLS)
namespace etch::testing {
void reset_kernel_calls();

// The counters of the sets called `name` for weights of 8 bits.
CountedSet counted(std::string_view name);

// Where a call of that set's function is counted: at the set that lends it, or at its own.
CountedSet counted(std::string_view name, CountedFunction function);

// The same of `set`, which may be one for weights of 7 bits.
CountedSet counted(const KernelSet& set, CountedFunction function);
}  // namespace etch::testing
#endif
