// SPDX-License-Identifier: Apache-2.0
// The kernel sets of this build, best first: the one list that choosing, tests and benchmarks use.
#include "etch/kernels.hpp"
#include "sets.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

constexpr const KernelSet* kSets[] = {
#if defined(__x86_64__)
    &kAvx512Vnni,  &kAvxVnni,    &kAvx2, &kSse2,
#elif defined(__aarch64__)
    &kNeonDotprod, &kNeon,
#endif
#if defined(ETCH_HAS_MVE)
    &kMve,
#endif
#if defined(ETCH_HAS_DSP)
    &kDsp,
#endif
#if defined(ETCH_HAS_PLAIN)
    &kPlain,
#endif
    &kScalarPanel, &kScalarRows,
};

}  // namespace

const KernelSet* best_kernels(Packing packing) noexcept {
    const KernelSet* best = nullptr;  // a scalar set is usable everywhere
    for (const KernelSet* set : kSets) {
        if (best == nullptr && set->packing == packing && set->usable()) best = set;
    }
    return best;
}

Status find_kernels(Packing packing, std::string_view name, const KernelSet*& out) noexcept {
    for (const KernelSet* set : kSets) {
        if (set->packing != packing || name != set->name) continue;
        if (!set->usable()) return Status::kernel_not_usable;
        out = set;
        return Status::ok;
    }
    return Status::kernel_unknown;
}

std::string_view usable_kernel_name(Packing packing, std::size_t index) noexcept {
    for (const KernelSet* set : kSets) {
        if (set->packing != packing || !set->usable()) continue;
        if (index == 0) return set->name;
        --index;
    }
    return {};
}

std::string_view kernel_name(const KernelSet& kernels) noexcept {
    return kernels.name;
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
