// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

// Tiles of 16 x 16 values: [16] rows `stride` values apart, the next tile `step` values behind.
template <class Value>
struct Tiles {
    const Value* values;
    std::uint32_t stride;
    std::size_t step;
};

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
