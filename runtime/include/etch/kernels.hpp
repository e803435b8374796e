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

// The sets of this build for one packing, best first. The functions below take the packing as a constant, so that a
// program links the sets of its models' packings only.
struct KernelList {
    const KernelSet* const* sets;
    std::size_t count;
};
extern const KernelList kPanelKernels;
extern const KernelList kRowsKernels;

namespace detail {

inline const KernelList& kernels_for(Packing packing) noexcept {
    return packing == Packing::panel ? kPanelKernels : kRowsKernels;
}

const KernelSet* best_kernels(const KernelList& list) noexcept;
Status find_kernels(const KernelList& list, std::string_view name, const KernelSet*& out) noexcept;
std::string_view usable_kernel_name(const KernelList& list, std::size_t index) noexcept;

}  // namespace detail

// The fastest set for `packing` that this CPU can run; every build has at least the scalar set, so never null.
inline const KernelSet* best_kernels(Packing packing) noexcept {
    return detail::best_kernels(detail::kernels_for(packing));
}

// The set that a workspace computes with, which it keeps: the fastest where none was chosen yet.
inline const KernelSet& chosen_kernels(Packing packing, const KernelSet*& kernels) noexcept {
    if (kernels == nullptr) kernels = best_kernels(packing);
    return *kernels;
}

// The set called `name` for `packing`. kernel_unknown where there is none in this build, kernel_not_usable where this
// CPU cannot run it; `out` is then left as it was.
inline Status find_kernels(Packing packing, std::string_view name, const KernelSet*& out) noexcept {
    return detail::find_kernels(detail::kernels_for(packing), name, out);
}

// Name of the index-th usable set for `packing`, best first; an empty view past the last.
inline std::string_view usable_kernel_name(Packing packing, std::size_t index) noexcept {
    return detail::usable_kernel_name(detail::kernels_for(packing), index);
}

// Name of `kernels`.
std::string_view kernel_name(const KernelSet& kernels) noexcept;

// Rows that go through a layer together, of a model where no number of them keeps what they compute in the second
// cache: `most`, so that weights are read once, or fewer where these kernels are faster so.
std::uint32_t block_rows(const KernelSet& kernels, std::uint32_t most) noexcept;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
