// SPDX-License-Identifier: Apache-2.0
// Where memory begins that calls compute in. Shared by generated code (buffer sizes) and the runtime.
#pragma once

#include <cstddef>

#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

constexpr std::size_t round_up(std::size_t value, std::size_t multiple) noexcept {
    return (value + multiple - 1) / multiple * multiple;
}

// Bytes: workspaces, regions and each part of a worker's scratch begin at a multiple. It is the widest that a kernel
// loads at once (AVX-512's vector, a row of AMX's tile), and a cache line: nothing that is loaded lies in two.
inline constexpr std::size_t kMemoryAlignment = 64;

// A part's bytes, and those up to where the next one may begin.
constexpr std::size_t aligned_bytes(std::size_t bytes) noexcept {
    return round_up(bytes, kMemoryAlignment);
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
