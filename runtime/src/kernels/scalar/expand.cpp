// SPDX-License-Identifier: Apache-2.0
// Weights of 4 bits to s8, as packing.hpp lays both out: w = q * factor of its group.
#include "../call_count.hpp"
#include "scalar.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace scalar {
namespace {

template <Packing kPacking>
void expand_s4(const std::int8_t* q, const std::uint8_t* factors, std::size_t n, std::uint32_t k,
               std::int8_t* expanded) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCountScalar, kCountExpandS4);
    for (std::size_t output = 0; output < n; ++output) {
        for (std::size_t i = 0; i < round_up(k, kPacking == Packing::panel ? 4 : 16); ++i) {
            const int value = s4_value(q[packed_s4_index(kPacking, output, i, k)], packed_s4_high(kPacking, i));
            const int factor = factors[packed_s4_factor_index(kPacking, output, i, k)];
            expanded[packed_s8_index(kPacking, output, i, k)] = static_cast<std::int8_t>(value * factor);
        }
    }
}

}  // namespace

void expand_s4_panel(const std::int8_t* q, const std::uint8_t* factors, std::uint32_t n, std::uint32_t k,
                     std::int8_t* expanded) noexcept {
    expand_s4<Packing::panel>(q, factors, round_up(n, kPanelWidth), k, expanded);
}

void expand_s4_rows(const std::int8_t* q, const std::uint8_t* factors, std::uint32_t n, std::uint32_t k,
                    std::int8_t* expanded) noexcept {
    expand_s4<Packing::rows>(q, factors, n, k, expanded);
}

}  // namespace scalar
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
