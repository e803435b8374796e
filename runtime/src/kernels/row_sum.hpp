// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

// The sum along a row as runtime/ARITHMETIC.md has it: element i goes to partial i mod 16, then a fixed tree.
class RowSum {
  public:
    void add(std::uint32_t i, float value) noexcept { partials_[i % 16] += value; }

    float total() noexcept {
        for (unsigned half = 8; half != 0; half /= 2) {
            for (unsigned i = 0; i < half; ++i)
                partials_[i] += partials_[i + half];
        }
        return partials_[0];
    }

  private:
    float partials_[16] = {};
};

}  // namespace
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
