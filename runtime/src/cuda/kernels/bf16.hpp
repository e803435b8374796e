// SPDX-License-Identifier: Apache-2.0
#pragma once

#ifdef __CUDACC__
#include <cuda_bf16.h>
#endif

#include <cstdint>

#include "../../kernels/scalar/math.hpp"
#include "etch/cuda/bf16.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

// To nearest even, for finite x.
ETCH_DEVICE inline Bf16 to_bf16(float x) noexcept {
#ifdef __CUDA_ARCH__
    return {__bfloat16_as_ushort(__float2bfloat16_rn(x))};  // one instruction
#else
    const std::uint32_t bits = scalar::bits_of(x);
    return {static_cast<std::uint16_t>((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16)};
#endif
}

ETCH_DEVICE inline float to_float(Bf16 x) noexcept {
    return scalar::from_bits(std::uint32_t{x.bits} << 16);
}

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
