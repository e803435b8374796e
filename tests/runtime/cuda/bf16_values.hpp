// SPDX-License-Identifier: Apache-2.0
// bf16 in tests: made of floats, and compared with doubles.
#pragma once

#include <cmath>
#include <vector>

#include "device_array.hpp"

namespace etch::testing {

// Half a unit in the last of 8 bits, and what f32 adds.
inline constexpr double kRounding = 0x1p-8 + 1e-5;

inline std::vector<cuda::Bf16> rounded(const std::vector<float>& values) {
    std::vector<cuda::Bf16> all;
    for (const float value : values)
        all.push_back(cuda::to_bf16(value));
    return all;
}

inline double value_of(cuda::Bf16 x) {
    return cuda::to_float(x);
}

inline double value_of(float x) {
    return x;
}

// Each of `got` within `relative` of its own size plus `absolute`.
template <class T>
::testing::AssertionResult near(const std::vector<T>& got, const std::vector<double>& want, double relative,
                                double absolute) {
    if (got.size() != want.size()) return ::testing::AssertionFailure() << "sizes differ";
    for (std::size_t i = 0; i < got.size(); ++i) {
        const double error = std::abs(value_of(got[i]) - want[i]);
        if (!(error <= relative * std::abs(want[i]) + absolute)) {
            return ::testing::AssertionFailure()
                   << "element " << i << " is " << value_of(got[i]) << ", not " << want[i] << "; seed " << kSeed;
        }
    }
    return ::testing::AssertionSuccess();
}

}  // namespace etch::testing
