// SPDX-License-Identifier: Apache-2.0
// Bytes of an arena as what a plan puts there. Offsets are multiples of the target's alignment.
#pragma once

#include <cstdint>

#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

inline float* f32(std::uint8_t* bytes) noexcept {
    return reinterpret_cast<float*>(bytes);
}

inline std::int8_t* s8(std::uint8_t* bytes) noexcept {
    return reinterpret_cast<std::int8_t*>(bytes);
}

inline std::int32_t* s32(std::uint8_t* bytes) noexcept {
    return reinterpret_cast<std::int32_t*>(bytes);
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
