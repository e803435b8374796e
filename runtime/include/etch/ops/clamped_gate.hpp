// SPDX-License-Identifier: Apache-2.0
// A gate between bounds, as experts of gpt-oss have it.
#pragma once

#include <cstdint>

#include "etch/ops/op.hpp"
#include "etch/ops/rows.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// With g = min(a, limit) and u = min(max(b, -limit), limit): out = (u + 1) * (g * sigmoid(g * alpha)). `out` may be a
// or b. Units: rows.
struct ClampedGate {
    std::uint32_t count;
    F32Rows a;  // [count][width]: the gate
    F32Rows b;  // and the factor
    F32Rows out;
    float alpha;
    float limit;

    std::uint32_t units() const noexcept { return count; }
    std::uint64_t cost() const noexcept { return kCostOfValue * count * out.width; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
