// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// The element-wise functions a linear may end with. Their float sequences are in src/kernels/polynomials.hpp.
enum class Activation : std::uint8_t { none, relu, gelu, gelu_tanh, quick_gelu, silu, tanh, sigmoid };

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
