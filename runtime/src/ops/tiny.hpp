// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../kernels/device.hpp"
#include "../kernels/polynomials.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

// x, or +0.0f where its magnitude is below 2^-40: products and sums of such values are never subnormal.
ETCH_DEVICE inline float without_tiny(float x) noexcept {
    return x < polynomials::kLeastMaximum && x > -polynomials::kLeastMaximum ? 0.0f : x;
}

}  // namespace
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
