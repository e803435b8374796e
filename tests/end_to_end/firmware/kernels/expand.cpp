// SPDX-License-Identifier: Apache-2.0
// Weights of 4 bits to s8: every length around the groups, every nibble and factor (what s8 cannot hold wraps alike),
// and what lies behind the rows.
#include "values.hpp"

namespace checks {
namespace {

constexpr std::uint32_t kOutputs = 3;
constexpr std::uint32_t kMost = 132;
constexpr std::size_t kBehind = 16;

alignas(16) std::int8_t q[kOutputs * 80];  // 160 weights a row
std::uint8_t factors[kOutputs * 5];
alignas(16) std::int8_t got[kOutputs * (kMost + 16) + kBehind];
alignas(16) std::int8_t want[sizeof got];

}  // namespace

void check_expansion(const etch::KernelSet& set, const etch::KernelSet& scalar, Report& report) noexcept {
    for (std::uint32_t k = 1; k <= kMost; ++k) {
        Random random(k);
        for (std::int8_t& byte : q)
            byte = static_cast<std::int8_t>(random.bits());
        for (std::uint8_t& factor : factors)
            factor = static_cast<std::uint8_t>(1 + random.bits() % 18);
        for (std::uint32_t n = 1; n <= kOutputs; ++n) {
            std::memset(got, 77, sizeof got);
            std::memset(want, 77, sizeof want);
            set.expand_s4(q, factors, n, k, got);
            scalar.expand_s4(q, factors, n, k, want);
            report.expect(same_bits(got, want, sizeof got), "expand_s4", n, k);
        }
    }
}

}  // namespace checks
