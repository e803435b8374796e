// SPDX-License-Identifier: Apache-2.0
// Which kernels a workspace computes with.
#pragma once

#include <string_view>

#include "etch/calls/turn.hpp"
#include "etch/kernels.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace calls {

template <class Encoder, class Workspace>
Status select_kernel(Workspace& workspace, std::string_view name) noexcept {
    const Turn turn{workspace.in_use};
    if (!turn) return Status::workspace_in_use;
    return find_kernels(Encoder::kKernels, name, workspace.kernels);
}

// Empty where the workspace is in use.
template <class Encoder, class Workspace>
std::string_view kernel(Workspace& workspace) noexcept {
    const Turn turn{workspace.in_use};
    if (!turn) return {};
    return kernel_name(chosen_kernels(Encoder::kKernels, workspace.kernels));
}

}  // namespace calls
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
