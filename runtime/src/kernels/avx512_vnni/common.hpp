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

// KernelSet::matmul_s4 for rows encoded as q, up to kMostRowsS4 of them.
void matmul_s4_of_plain_rows(const MatmulS8& m, const std::uint8_t* factors, std::uint32_t first_panel,
                             std::uint32_t last_panel) noexcept;
constexpr std::uint32_t kMostRowsS4 = 8;
}  // namespace common
}  // namespace avx512_vnni
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
