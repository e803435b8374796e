// SPDX-License-Identifier: Apache-2.0
// What avx512_vnni lends to amx_int8.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../kernel_set.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace avx512_vnni {
namespace common {
#include "../vector/common_declarations.inl"
}  // namespace common
}  // namespace avx512_vnni
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
