// SPDX-License-Identifier: Apache-2.0
// Kernel sets compiled a second time with their instructions emulated, so that a CPU without them tests them too.
#pragma once

#include <algorithm>
#include <vector>

#include "kernels/kernel_set.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
#if defined(ETCH_EMULATED_KERNELS)
extern const KernelSet kAmxInt8Emulated;
extern const KernelSet kAvx512VnniEmulated;
extern const KernelSet kAvx512VnniHalvedEmulated;
extern const KernelSet kAvxVnniEmulated;
#endif
}  // namespace ETCH_ABI_NAMESPACE

namespace testing {

// Those that this build has and this CPU can run.
inline std::vector<const KernelSet*> emulated_sets() {
    std::vector<const KernelSet*> sets;
#if defined(ETCH_EMULATED_KERNELS)
    for (const KernelSet* set :
         {&kAmxInt8Emulated, &kAvx512VnniEmulated, &kAvx512VnniHalvedEmulated, &kAvxVnniEmulated}) {
        if (set->usable()) sets.push_back(set);
    }
#endif
    return sets;
}

// Behind the set's own name; empty where it is none of them.
inline const char* emulated_suffix(const KernelSet& set) {
#if defined(ETCH_EMULATED_KERNELS)
    if (&set == &kAvx512VnniHalvedEmulated) return "_halved_emulated";
#endif
    const std::vector<const KernelSet*> sets = emulated_sets();
    return std::find(sets.begin(), sets.end(), &set) != sets.end() ? "_emulated" : "";
}

}  // namespace testing
}  // namespace etch
