// SPDX-License-Identifier: Apache-2.0
#include "etch/decode/argmax.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

std::uint32_t argmax(const float* values, std::uint32_t n) noexcept {
    std::uint32_t best = 0;
    for (std::uint32_t i = 1; i < n; ++i) {
        if (values[i] > values[best]) best = i;
    }
    return best;
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
