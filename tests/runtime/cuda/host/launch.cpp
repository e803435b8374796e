// SPDX-License-Identifier: Apache-2.0
// launch() as loops. Every other launch runs its blocks, threads and lanes backward.
#include "cuda/kernels/launch.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <vector>

#include "host_block.hpp"
#include "stand_in/faults.hpp"
#include "stand_in/stream.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {
namespace {

constexpr std::size_t kSharedBytesWithoutAsking = 48 * 1024;
constexpr std::size_t kSharedAlignment = 256;

std::atomic<bool> prepared{false};
std::atomic<std::uint32_t> launches{0};

template <class Kernel>
void run(const Kernel& kernel, const Grid& grid, host::Order order) {
    const std::size_t shared_bytes = kernel.shared_bytes();
    std::vector<std::uint8_t> memory(shared_bytes + kSharedAlignment);
    const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
    std::uint8_t* const shared = memory.data() + (kSharedAlignment - address % kSharedAlignment);
    host::for_each(grid.x * grid.y * grid.z, order, [&](std::uint32_t i) {
        std::fill_n(shared, shared_bytes, std::uint8_t{0xFF});
        const Grid at{i % grid.x, i / grid.x % grid.y, i / grid.x / grid.y};
        host::Block<Kernel::kThreads> block(at, shared, order);
        kernel(block);
    });
}

template <class Kernel>
cudaError_t launch_kernel(const Kernel& kernel, cudaStream_t stream) {
    constexpr std::uint32_t kMostBlocks = 65535;  // in y and in z
    const Grid grid = kernel.grid();
    if (grid.x == 0 || grid.y == 0 || grid.z == 0) return cudaSuccess;
    if (const cudaError_t error = etch_stand_in::enter_cuda("cudaLaunchKernel")) return error;
    if (grid.y > kMostBlocks || grid.z > kMostBlocks || kernel.shared_bytes() > kMostSharedBytes ||
        (kernel.shared_bytes() > kSharedBytesWithoutAsking && !prepared))
        return cudaErrorInvalidValue;
    const host::Order order = launches++ % 2 == 0 ? host::Order::forward : host::Order::backward;
    return etch_stand_in::submit(stream, [kernel, grid, order] { run(kernel, grid, order); });
}

}  // namespace

cudaError_t prepare() noexcept {
    if (const cudaError_t error = etch_stand_in::enter_cuda("cudaFuncSetAttribute")) return error;
    prepared = true;
    return cudaSuccess;
}

ETCH_CUDA_KERNELS(ETCH_CUDA_DEFINE_LAUNCH)

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
