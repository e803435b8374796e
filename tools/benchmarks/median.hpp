// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

namespace etch::bench {

// The middle one, or the upper of two; `figures`, a container with random access, has one at least.
template <class Figures>
double median(Figures figures) {
    const auto middle = figures.begin() + static_cast<std::ptrdiff_t>(figures.size() / 2);
    std::nth_element(figures.begin(), middle, figures.end());
    return static_cast<double>(*middle);
}

}  // namespace etch::bench
