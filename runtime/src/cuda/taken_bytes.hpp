// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

// Bytes of the current device that are in use, by whomever.
inline cudaError_t taken_bytes(std::size_t& taken) noexcept {
    std::size_t free = 0;
    std::size_t total = 0;
    const cudaError_t error = cudaMemGetInfo(&free, &total);
    if (error == cudaSuccess) taken = total - free;
    return error;
}

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
