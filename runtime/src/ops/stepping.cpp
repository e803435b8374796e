// SPDX-License-Identifier: Apache-2.0
#include "etch/ops/stepping.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

std::uint32_t StepBudget::take(std::uint64_t cost, std::uint32_t units, std::uint32_t wanted) noexcept {
    const std::uint64_t each = (cost + units - 1) / units;
    const std::uint64_t affordable = left_ / each;
    std::uint32_t taken = affordable < wanted ? static_cast<std::uint32_t>(affordable) : wanted;
    if (taken == 0 && first_) taken = 1;
    const std::uint64_t spent = each * taken;
    left_ = spent < left_ ? left_ - spent : 0;
    first_ = false;
    return taken;
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
