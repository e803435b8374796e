// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

// Blocks of a launch.
struct Grid {
    std::uint32_t x;
    std::uint32_t y = 1;
    std::uint32_t z = 1;
};

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
