// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>

namespace etch_stand_in {

// Work for a stream: runs at once, with access to device memory, or is recorded while the stream is captured.
cudaError_t submit(cudaStream_t stream, std::function<void()> work);

// Pieces of work that ran so far; what a graph replays counts one by one.
std::uint64_t executed();

}  // namespace etch_stand_in
