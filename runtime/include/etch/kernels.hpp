// SPDX-License-Identifier: Apache-2.0
// The kernel sets of this build, for a model's tables: listing and choosing. No allocation, no environment. On a CPU
// with AMX, whether amx_int8 is usable is a question to Linux, which then keeps tile registers for the process from
// then on: listing asks it, as choosing the best set and naming that one do. A signal handler's own stack must then be
// 8 KB larger.
#pragma once

#include <cstddef>
#include <string_view>

#include "etch/packing.hpp"
#include "etch/status.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

struct KernelSet;

// The sets of this build for one packing, best first. Which list a model takes is a constant of its own, so that a
// program links the sets of its models' lists only.
struct KernelList {
    const KernelSet* const* sets;
    std::size_t count;
};
extern const KernelList kPanelKernels;
extern const KernelList kRowsKernels;

// The fastest set of `list` that this CPU can run; every build has at least the scalar set, so never null.
const KernelSet* best_kernels(const KernelList& list) noexcept;

// The set that a workspace computes with, which it keeps: the fastest where none was chosen yet.
inline const KernelSet& chosen_kernels(const KernelList& list, const KernelSet*& kernels) noexcept {
    if (kernels == nullptr) kernels = best_kernels(list);
    return *kernels;
}

// The set called `name` of `list`. kernel_unknown where there is none in this build, kernel_not_usable where this CPU
// cannot run it; `out` is then left as it was.
Status find_kernels(const KernelList& list, std::string_view name, const KernelSet*& out) noexcept;

// Name of the index-th usable set of `list`, best first; an empty view past the last.
std::string_view usable_kernel_name(const KernelList& list, std::size_t index) noexcept;

// Name of `kernels`.
std::string_view kernel_name(const KernelSet& kernels) noexcept;

// Rows per block of a layer, for models of which no block fits the second cache: at most `most`, fewer where these
// kernels are faster so. Blocks of `rows` are nearly equal, for one of a few rows would wait for the weights.
std::uint32_t block_rows(const KernelSet& kernels, std::uint32_t rows, std::uint32_t most) noexcept;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
