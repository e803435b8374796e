// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// Index of the largest of n >= 1 values, the lowest such index on a tie.
std::uint32_t argmax(const float* values, std::uint32_t n) noexcept;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
