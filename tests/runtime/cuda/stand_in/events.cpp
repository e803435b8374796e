// SPDX-License-Identifier: Apache-2.0
// Events, on the clock of the CPU.
#include <cuda_runtime_api.h>

#include <chrono>

#include "faults.hpp"
#include "stream.hpp"

using Clock = std::chrono::steady_clock;

struct CUevent_st {
    Clock::time_point time;
};

using namespace etch_stand_in;

extern "C" {

cudaError_t cudaEventCreate(cudaEvent_t* event) {
    if (const cudaError_t error = enter_cuda("cudaEventCreate")) return error;
    *event = new CUevent_st;
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    const cudaError_t error = enter_cuda("cudaEventDestroy");
    delete event;
    return error;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    if (const cudaError_t error = enter_cuda("cudaEventRecord")) return error;
    return submit(stream, [event] { event->time = Clock::now(); });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
    if (const cudaError_t error = enter_cuda("cudaEventElapsedTime")) return error;
    *milliseconds = std::chrono::duration<float, std::milli>(end->time - begin->time).count();
    return cudaSuccess;
}

}  // extern "C"
