// SPDX-License-Identifier: Apache-2.0
// The counters of kernels/call_count.hpp, for tests built with ETCH_COUNT_KERNEL_CALLS.
#pragma once

#include "kernels/call_count.hpp"

#if defined(ETCH_COUNT_KERNEL_CALLS)
namespace etch::testing {
void reset_kernel_calls();
}  // namespace etch::testing
#endif
