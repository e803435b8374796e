// SPDX-License-Identifier: Apache-2.0
// What neon lends to neon_i8mm.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../kernel_set.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace neon {
namespace common {
#include "../vector/common_declarations.inl"
}  // namespace common
}  // namespace neon
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
