// SPDX-License-Identifier: Apache-2.0
// The element-wise functions that a linear may end with. polynomials.hpp states their operations and errors.
#pragma once

#include "etch/ops/activation.hpp"
#include "math.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace scalar {
namespace {

ETCH_DEVICE inline float relu(float x) noexcept {
    return x > 0.0f ? x : 0.0f;
}

ETCH_DEVICE inline float gelu(float x) noexcept {
    return (x * 0.5f) * (1.0f + erf(x * polynomials::kSqrtHalf));
}

ETCH_DEVICE inline float gelu_tanh(float x) noexcept {
    return x * sigmoid(x * (polynomials::kGeluTanh1 + polynomials::kGeluTanh3 * (x * x)));
}

ETCH_DEVICE inline float quick_gelu(float x) noexcept {
    return x * sigmoid(polynomials::kQuickGelu * x);
}

ETCH_DEVICE inline float silu(float x) noexcept {
    return x * sigmoid(x);
}

ETCH_DEVICE inline float activate(Activation activation, float x) noexcept {
    switch (activation) {
        case Activation::none:
            break;
        case Activation::relu:
            return relu(x);
        case Activation::gelu:
            return gelu(x);
        case Activation::gelu_tanh:
            return gelu_tanh(x);
        case Activation::quick_gelu:
            return quick_gelu(x);
        case Activation::silu:
            return silu(x);
        case Activation::tanh:
            return tanh(x);
        case Activation::sigmoid:
            return sigmoid(x);
    }
    return x;
}

}  // namespace
}  // namespace scalar
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
