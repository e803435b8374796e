// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

// What a GPU computes with; chosen once, when the weights are opened.
enum class Mode : std::uint8_t {
    exact,  // 8-bit products: the bits of the CPU. Recipes w8a8, w7a8 and w4a8
    fast,   // bf16 products with float sums: any recipe
};

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
