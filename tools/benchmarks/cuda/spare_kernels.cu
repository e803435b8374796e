// SPDX-License-Identifier: Apache-2.0
#include "spare_kernels.hpp"

namespace etch::bench {
namespace {

__device__ std::uint64_t nanoseconds_now() {
    std::uint64_t now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

__global__ void nothing() {}

__global__ void delay(std::uint64_t nanoseconds) {
    const std::uint64_t begin = nanoseconds_now();
    while (nanoseconds_now() - begin < nanoseconds) {
    }
}

}  // namespace

cudaError_t launch_nothing(cudaStream_t stream) {
    return cudaLaunchKernel(nothing, dim3(1), dim3(32), nullptr, 0, stream);
}

cudaError_t launch_delay(cudaStream_t stream, std::uint64_t nanoseconds) {
    void* arguments[] = {&nanoseconds};
    return cudaLaunchKernel(delay, dim3(1), dim3(1), arguments, 0, stream);
}

}  // namespace etch::bench
