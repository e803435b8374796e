// SPDX-License-Identifier: Apache-2.0
// What ops and similarities have of the arithmetic contract alike, step by step.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace etch::testing {

constexpr float kTiny = 0x1p-40f;

inline float counted(float x) {
    return std::fabs(x) < kTiny ? 0.0f : x;
}

// The contract's sum along a row, with volatile so that nothing is reordered or fused.
inline float row_sum(const std::vector<float>& x) {
    volatile float partials[16] = {};
    for (std::size_t i = 0; i < x.size(); ++i)
        partials[i % 16] = partials[i % 16] + x[i];
    for (unsigned distance = 8; distance != 0; distance /= 2) {
        for (unsigned i = 0; i < distance; ++i)
            partials[i] = partials[i] + partials[i + distance];
    }
    return partials[0];
}

}  // namespace etch::testing
