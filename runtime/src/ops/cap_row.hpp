// SPDX-License-Identifier: Apache-2.0
// What a SoftCap makes of a row.
#pragma once

#include <cstdint>

#include "../kernels/kernel_set.hpp"
#include "etch/ops/row_ops.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

// In place.
void cap_row(const KernelSet& kernels, const SoftCap& cap, float* x, std::uint32_t n) noexcept {
    for (std::uint32_t i = 0; i < n; ++i)
        x[i] = x[i] * cap.inverse;
    kernels.activate_row(Activation::tanh, x, n);
    for (std::uint32_t i = 0; i < n; ++i)
        x[i] = x[i] * cap.limit;
}

}  // namespace
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
