// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <driver_types.h>

#include "kernels.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

// Lets the kernels have the shared memory that they ask for, on the current device. Once, before the first launch.
cudaError_t prepare() noexcept;

// Puts the kernel with its parameters into the stream; none where its grid is empty.
#define ETCH_CUDA_LAUNCH(Kernel) cudaError_t launch(const Kernel& kernel, cudaStream_t stream) noexcept;
ETCH_CUDA_KERNELS(ETCH_CUDA_LAUNCH)
#undef ETCH_CUDA_LAUNCH

// X of ETCH_CUDA_KERNELS where launch() is defined, in terms of a launch_kernel() for any kernel.
#define ETCH_CUDA_DEFINE_LAUNCH(Kernel)                                      \
    cudaError_t launch(const Kernel& kernel, cudaStream_t stream) noexcept { \
        return launch_kernel(kernel, stream);                                \
    }

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
