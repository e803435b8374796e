// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <type_traits>

#include "device_block.cuh"
#include "launch.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {
namespace {

// Blocks that a multiprocessor shall hold, for which a kernel may have to do with fewer registers.
template <class Kernel, class = void>
constexpr std::uint32_t kBlocksAtOnce = 1;
template <class Kernel>
constexpr std::uint32_t kBlocksAtOnce<Kernel, std::void_t<decltype(Kernel::kBlocksAtOnce)>> = Kernel::kBlocksAtOnce;

template <class Kernel>
__global__ void __launch_bounds__(Kernel::kThreads, kBlocksAtOnce<Kernel>) run(const Kernel kernel) {
    DeviceBlock<Kernel::kThreads> block;
    kernel(block);
}

template <class Kernel>
cudaError_t launch_kernel(const Kernel& kernel, cudaStream_t stream) noexcept {
    const Grid grid = kernel.grid();
    if (grid.x == 0 || grid.y == 0 || grid.z == 0) return cudaSuccess;
    // Not <<<>>>, of which cudaGetLastError() tells: that would report what failed before, too.
    Kernel copy = kernel;
    void* arguments[] = {&copy};
    return cudaLaunchKernel(run<Kernel>, dim3(grid.x, grid.y, grid.z), dim3(Kernel::kThreads), arguments,
                            kernel.shared_bytes(), stream);
}

}  // namespace

cudaError_t prepare() noexcept {
    cudaError_t error = cudaSuccess;
#define ETCH_CUDA_PREPARE(Kernel)                                                              \
    if (error == cudaSuccess) {                                                                \
        error = cudaFuncSetAttribute(run<Kernel>, cudaFuncAttributeMaxDynamicSharedMemorySize, \
                                     static_cast<int>(kMostSharedBytes));                      \
    }
    ETCH_CUDA_KERNELS(ETCH_CUDA_PREPARE)
#undef ETCH_CUDA_PREPARE
    return error;
}

ETCH_CUDA_KERNELS(ETCH_CUDA_DEFINE_LAUNCH)

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
