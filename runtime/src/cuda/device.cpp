// SPDX-License-Identifier: Apache-2.0
#include "etch/cuda/device.hpp"

#include <cuda_runtime_api.h>

#include <cstring>

#include "steps.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {
namespace {

constexpr int kLeastCapability = 80;

// The runtime calls a missing driver too old, too.
Status device_count(int& count) noexcept {
    count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaErrorInsufficientDriver) return status_of(error);
    int version = 0;
    const cudaError_t asked = cudaDriverGetVersion(&version);
    return asked == cudaSuccess && version == 0 ? Status::no_device : Status::driver_too_old;
}

}  // namespace

Status device_info(int index, DeviceInfo& info) noexcept {
    info = {};
    int count = 0;
    int driver = 0;
    int major = 0;
    int minor = 0;
    cudaDeviceProp properties;
    Steps steps;
    steps.then([&] { return device_count(count); })
        .then([&] { return count > 0 ? Status::ok : Status::no_device; })
        .then([&] { return index >= 0 && index < count ? Status::ok : Status::device_unknown; })
        .then([&] { return cudaDriverGetVersion(&driver); })
        .then([&] { return cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, index); })
        .then([&] { return cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, index); })
        .then([&] { return cudaGetDeviceProperties(&properties, index); });
    if (!steps.ok()) return steps.status();
    static_assert(sizeof(info.name) == sizeof(properties.name));
    std::memcpy(info.name, properties.name, sizeof info.name);
    info.name[sizeof info.name - 1] = '\0';
    info.capability = static_cast<std::uint32_t>(major * 10 + minor);
    info.driver_version = static_cast<std::uint32_t>(driver);
    info.runtime_version = CUDART_VERSION;
    info.memory_bytes = properties.totalGlobalMem;
    return major * 10 + minor < kLeastCapability ? Status::device_not_supported : Status::ok;
}

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
