// SPDX-License-Identifier: Apache-2.0
// A block of threads for each row; the row lies in shared memory as f32.
#pragma once

#include <cstddef>
#include <cstdint>

#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

inline constexpr std::uint32_t kRowThreads = 256;

// Every device since compute capability 8.0 has this much shared memory for a block, if asked for.
inline constexpr std::size_t kMostSharedBytes = 99 * 1024 - 256;

// The widest row.
inline constexpr std::uint32_t kMostColumns = kMostSharedBytes / sizeof(float);

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
