// SPDX-License-Identifier: Apache-2.0
#include "../call_count.hpp"
#include "activate.hpp"
#include "scalar.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace scalar {

void apply_activation(Activation activation, float* x, std::uint32_t n) noexcept {
    for (std::uint32_t i = 0; i < n; ++i)
        x[i] = activate(activation, x[i]);
}

void activate_row(Activation activation, float* x, std::uint32_t n) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCountScalar, kCountActivateRow);
    apply_activation(activation, x, n);
}

}  // namespace scalar
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
