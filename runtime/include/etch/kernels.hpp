// SPDX-License-Identifier: Apache-2.0
// The kernel sets of this build, for a model's packing: listing and choosing. No allocation, no environment.
#pragma once

#include <cstddef>
#include <string_view>

#include "etch/packing.hpp"
#include "etch/status.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

struct KernelSet;

// The fastest set for `packing` that this CPU can run; every build has at least the scalar set, so never null.
const KernelSet* best_kernels(Packing packing) noexcept;

// The set called `name` for `packing`. kernel_unknown where there is none in this build, kernel_not_usable where this
// CPU cannot run it; `out` is then left as it was.
Status find_kernels(Packing packing, std::string_view name, const KernelSet*& out) noexcept;

// Name of the index-th usable set for `packing`, best first; an empty view past the last.
std::string_view usable_kernel_name(Packing packing, std::size_t index) noexcept;

// Name of `kernels`.
std::string_view kernel_name(const KernelSet& kernels) noexcept;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
