// SPDX-License-Identifier: Apache-2.0
#include "kernel_calls.hpp"

#if defined(ETCH_COUNT_KERNEL_CALLS)
namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
std::uint64_t kernel_calls[kCountedSets][kCountedFunctions];
}  // namespace ETCH_ABI_NAMESPACE

namespace testing {
void reset_kernel_calls() {
    for (auto& set : kernel_calls) {
        for (std::uint64_t& calls : set)
            calls = 0;
    }
}
}  // namespace testing
}  // namespace etch
#endif
