// SPDX-License-Identifier: Apache-2.0
// Choosing a kernel set from a list, best first: panel_sets.cpp and rows_sets.cpp hold the lists.
#include "etch/kernels.hpp"
#include "etch/packing.hpp"
#include "kernel_set.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
const KernelSet* best_kernels(const KernelList& list) noexcept {
    std::size_t i = 0;
    while (!list.sets[i]->usable())
        ++i;  // the last, scalar, is usable everywhere
    return list.sets[i];
}

Status find_kernels(const KernelList& list, std::string_view name, const KernelSet*& out) noexcept {
    Status status = Status::kernel_unknown;
    for (std::size_t i = 0; i < list.count; ++i) {
        const KernelSet* const set = list.sets[i];
        if (name != set->name) continue;
        if (set->usable()) {
            out = set;
            return Status::ok;
        }
        status = Status::kernel_not_usable;
    }
    return status;
}

std::string_view usable_kernel_name(const KernelList& list, std::size_t index) noexcept {
    std::string_view before;
    for (std::size_t i = 0; i < list.count; ++i) {
        const std::string_view name = list.sets[i]->name;
        if (name == before || !list.sets[i]->usable()) continue;
        if (index == 0) return name;
        --index;
        before = name;
    }
    return {};
}

std::string_view kernel_name(const KernelSet& kernels) noexcept {
    return kernels.name;
}

std::uint32_t block_rows(const KernelSet& kernels, std::uint32_t rows, std::uint32_t most) noexcept {
    constexpr std::uint32_t kTileRows = 16;  // a multiple of what most sets multiply at a time
    if (kernels.block_rows != 0 && kernels.block_rows < most) most = kernels.block_rows;
    if (rows <= most) return most;
    const std::uint32_t blocks = (rows + most - 1) / most;
    const std::uint32_t even = (rows + blocks - 1) / blocks;
    const auto whole_tiles = static_cast<std::uint32_t>(round_up(even, kTileRows));
    return whole_tiles < most ? whole_tiles : most;
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
