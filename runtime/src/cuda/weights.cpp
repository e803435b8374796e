// SPDX-License-Identifier: Apache-2.0
#include "etch/cuda/weights.hpp"

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include "etch/cuda/device.hpp"
#include "etch/cuda/model.hpp"
#include "kernels/launch.hpp"
#include "on_device.hpp"
#include "steps.hpp"
#include "taken_bytes.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {
namespace {

// Fills the weights' memory, by way of a temporary.
Status fill(std::uint8_t* memory, const ModelPlan& model, Mode mode) noexcept {
    cudaStream_t stream = nullptr;
    void* staging = nullptr;
    Steps steps;
    steps.then([&] { return cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking); })
        .then([&] { return cudaMalloc(&staging, model.staging_bytes(mode)); })
        .then([&] {
            Upload upload(memory, static_cast<std::uint8_t*>(staging), stream);
            model.upload(upload, mode);
            return upload.status();
        });
    // Also after a failure: nothing may use the temporary when it is freed.
    if (stream != nullptr) steps.always([&] { return cudaStreamSynchronize(stream); });
    if (staging != nullptr) steps.always([&] { return cudaFree(staging); });
    if (stream != nullptr) steps.always([&] { return cudaStreamDestroy(stream); });
    return steps.status();
}

}  // namespace

Status open(DeviceWeights& weights, const ModelPlan& model, int device, Mode mode) noexcept {
    weights.close();
    if (mode == Mode::exact && !model.exact) return Status::mode_not_supported;
    DeviceInfo info;
    const Status usable = device_info(device, info);
    if (usable != Status::ok) return usable;
    const OnDevice on_device(device);
    weights.device = device;
    weights.mode = mode;
    weights.bytes = model.weights_bytes(mode);
    cublasLtHandle_t library = nullptr;
    std::size_t taken = 0;
    Steps steps;
    steps.then([&] { return on_device.status(); })
        .then([&] { return cudaMalloc(&weights.memory, weights.bytes); })
        .then([&] { return prepare(); })
        .then([&] { return cublasLtCreate(&library); });
    weights.library = library;
    steps.then([&] { return fill(static_cast<std::uint8_t*>(weights.memory), model, mode); }).then([&] {
        return taken_bytes(taken);
    });
    weights.context_bytes = taken > weights.bytes ? taken - weights.bytes : 0;
    if (!steps.ok()) weights.close();
    return steps.status();
}

void DeviceWeights::close() noexcept {
    if (memory == nullptr && library == nullptr) return;
    const OnDevice on_device(device);
    if (library != nullptr) cublasLtDestroy(static_cast<cublasLtHandle_t>(library));
    if (memory != nullptr) cudaFree(memory);
    library = nullptr;
    memory = nullptr;
    bytes = 0;
    context_bytes = 0;
}

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
