// SPDX-License-Identifier: Apache-2.0
// Choosing a kernel set from a list, best first: panel_sets.cpp and rows_sets.cpp hold the lists.
#include "etch/kernels.hpp"
#include "kernel_set.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace detail {

const KernelSet* best_kernels(const KernelList& list) noexcept {
    std::size_t i = 0;
    while (!list.sets[i]->usable())
        ++i;  // the last, scalar, is usable everywhere
    return list.sets[i];
}

Status find_kernels(const KernelList& list, std::string_view name, const KernelSet*& out) noexcept {
    for (std::size_t i = 0; i < list.count; ++i) {
        const KernelSet* const set = list.sets[i];
        if (name != set->name) continue;
        if (!set->usable()) return Status::kernel_not_usable;
        out = set;
        return Status::ok;
    }
    return Status::kernel_unknown;
}

std::string_view usable_kernel_name(const KernelList& list, std::size_t index) noexcept {
    for (std::size_t i = 0; i < list.count; ++i) {
        if (!list.sets[i]->usable()) continue;
        if (index == 0) return list.sets[i]->name;
        --index;
    }
    return {};
}

}  // namespace detail

std::string_view kernel_name(const KernelSet& kernels) noexcept {
    return kernels.name;
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
