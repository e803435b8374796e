// SPDX-License-Identifier: Apache-2.0
// What avx2 lends to avx_vnni.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../kernel_set.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace avx2 {
namespace common {
#include "../vector/common_declarations.inl"
}  // namespace common
}  // namespace avx2
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
