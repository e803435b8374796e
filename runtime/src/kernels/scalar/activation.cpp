// SPDX-License-Identifier: Apache-2.0
// The element-wise functions that a linear may end with. polynomials.hpp states their operations and errors.
#include "../call_count.hpp"
#include "math.hpp"
#include "scalar.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace scalar {
namespace {

float relu(float x) noexcept {
    return x > 0.0f ? x : 0.0f;
}

float gelu(float x) noexcept {
    return (x * 0.5f) * (1.0f + erf(x * polynomials::kSqrtHalf));
}

float gelu_tanh(float x) noexcept {
    return x * sigmoid(x * (polynomials::kGeluTanh1 + polynomials::kGeluTanh3 * (x * x)));
}

float quick_gelu(float x) noexcept {
    return x * sigmoid(polynomials::kQuickGelu * x);
}

float silu(float x) noexcept {
    return x * sigmoid(x);
}

template <float (*kFunction)(float) noexcept>
void map(float* x, std::uint32_t n) noexcept {
    for (std::uint32_t i = 0; i < n; ++i)
        x[i] = kFunction(x[i]);
}

}  // namespace

void apply_activation(Activation activation, float* x, std::uint32_t n) noexcept {
    switch (activation) {
        case Activation::none:
            return;
        case Activation::relu:
            return map<relu>(x, n);
        case Activation::gelu:
            return map<gelu>(x, n);
        case Activation::gelu_tanh:
            return map<gelu_tanh>(x, n);
        case Activation::quick_gelu:
            return map<quick_gelu>(x, n);
        case Activation::silu:
            return map<silu>(x, n);
        case Activation::tanh:
            return map<tanh>(x, n);
        case Activation::sigmoid:
            return map<sigmoid>(x, n);
    }
}

void activate_row(Activation activation, float* x, std::uint32_t n) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCountScalar, kCountActivateRow);
    apply_activation(activation, x, n);
}

}  // namespace scalar
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
