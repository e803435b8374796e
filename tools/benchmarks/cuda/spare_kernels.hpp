// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace etch::bench {

// Does nothing: in place of a kernel of ours it leaves what a kernel costs at least.
cudaError_t launch_nothing(cudaStream_t stream);

// Keeps the GPU busy, so that what follows in the stream waits there for its turn and not for the CPU.
cudaError_t launch_delay(cudaStream_t stream, std::uint64_t nanoseconds);

}  // namespace etch::bench
