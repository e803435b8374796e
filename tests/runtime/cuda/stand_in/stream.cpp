// SPDX-License-Identifier: Apache-2.0
#include "stream.hpp"

#include <atomic>
#include <utility>
#include <vector>

#include "faults.hpp"
#include "memory.hpp"

using Work = std::vector<std::function<void()>>;

struct CUstream_st {
    bool captured = false;
    Work recorded;
};

struct CUgraph_st {
    Work work;
};

struct CUgraphExec_st {
    Work work;
};

namespace etch_stand_in {
namespace {

std::atomic<std::uint64_t> executed_count{0};

void run(const std::function<void()>& work) {
    ++executed_count;
    work();
}

}  // namespace

cudaError_t submit(cudaStream_t stream, std::function<void()> work) {
    if (stream != nullptr && stream->captured) {
        stream->recorded.push_back(std::move(work));
        return cudaSuccess;
    }
    const DeviceAccess access;
    run(work);
    return cudaSuccess;
}

std::uint64_t executed() {
    return executed_count;
}

}  // namespace etch_stand_in

using namespace etch_stand_in;

extern "C" {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
    if (const cudaError_t error = enter_cuda("cudaStreamCreateWithFlags")) return error;
    *stream = new CUstream_st;
    ++alive().streams;
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    const cudaError_t error = enter_cuda("cudaStreamDestroy");
    delete stream;
    --alive().streams;
    return error;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    if (const cudaError_t error = enter_cuda("cudaStreamSynchronize")) return error;
    return stream != nullptr && stream->captured ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
    return enter_cuda("cudaDeviceSynchronize");
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
    if (const cudaError_t error = enter_cuda("cudaStreamBeginCapture")) return error;
    if (stream->captured) return cudaErrorIllegalState;
    stream->captured = true;
    return cudaSuccess;
}

// Ends the capture even where it reports a failure, and then gives no graph: as the runtime does.
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
    const cudaError_t error = enter_cuda("cudaStreamEndCapture");
    *graph = nullptr;
    if (!stream->captured) return cudaErrorIllegalState;
    stream->captured = false;
    Work work = std::move(stream->recorded);
    stream->recorded.clear();
    if (error != cudaSuccess) return error;
    *graph = new CUgraph_st{std::move(work)};
    ++alive().graphs;
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
    if (const cudaError_t error = enter_cuda("cudaGraphInstantiate")) return error;
    *executable = new CUgraphExec_st{graph->work};
    ++alive().executables;
    return cudaSuccess;
}

cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) {
    return enter_cuda("cudaGraphUpload");
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
    if (const cudaError_t error = enter_cuda("cudaGraphLaunch")) return error;
    if (stream->captured) return cudaErrorStreamCaptureUnsupported;
    const DeviceAccess access;
    for (const std::function<void()>& work : executable->work)
        run(work);
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    const cudaError_t error = enter_cuda("cudaGraphDestroy");
    delete graph;
    --alive().graphs;
    return error;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
    const cudaError_t error = enter_cuda("cudaGraphExecDestroy");
    delete executable;
    --alive().executables;
    return error;
}
}
