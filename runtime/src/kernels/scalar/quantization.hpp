// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "math.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace scalar {
namespace {

// How a row is quantized: q = rne(x * factor), x = q * scale.
struct Quantization {
    float factor;
    float scale;
};

// By its largest magnitude; tiny rows become 0.
ETCH_DEVICE inline Quantization quantization_of(float largest) noexcept {
    if (largest < polynomials::kLeastMaximum) return {0.0f, 0.0f};
    return {127.0f / largest, largest * polynomials::kInverse127};
}

}  // namespace
}  // namespace scalar
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
