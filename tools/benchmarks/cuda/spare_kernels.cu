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
    nothing<<<1, 32, 0, stream>>>();
    return cudaGetLastError();
}

cudaError_t launch_delay(cudaStream_t stream, std::uint64_t nanoseconds) {
    delay<<<1, 1, 0, stream>>>(nanoseconds);
    return cudaGetLastError();
}

}  // namespace etch::bench
