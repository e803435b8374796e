// SPDX-License-Identifier: Apache-2.0
// The machine: how many devices, which driver, which one the calling thread uses.
#include <cstring>

#include "faults.hpp"

using namespace etch_stand_in;

namespace {

thread_local int current_device = 0;

}  // namespace

extern "C" {

cudaError_t cudaDriverGetVersion(int* version) {
    if (const cudaError_t error = enter_cuda("cudaDriverGetVersion")) return error;
    *version = machine().driver_version;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) {
    *count = 0;
    if (const cudaError_t error = enter_cuda("cudaGetDeviceCount")) return error;
    if (machine().driver_version < CUDART_VERSION) return cudaErrorInsufficientDriver;
    *count = machine().devices;
    return *count > 0 ? cudaSuccess : cudaErrorNoDevice;
}

cudaError_t cudaGetDevice(int* device) {
    if (const cudaError_t error = enter_cuda("cudaGetDevice")) return error;
    *device = current_device;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
    if (const cudaError_t error = enter_cuda("cudaSetDevice")) return error;
    if (device < 0 || device >= machine().devices) return cudaErrorInvalidDevice;
    current_device = device;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
    if (const cudaError_t error = enter_cuda("cudaDeviceGetAttribute")) return error;
    if (attribute == cudaDevAttrComputeCapabilityMajor) {
        *value = machine().capability_major;
    } else if (attribute == cudaDevAttrComputeCapabilityMinor) {
        *value = machine().capability_minor;
    } else if (attribute == cudaDevAttrMaxSharedMemoryPerBlockOptin) {
        *value = 99 * 1024;  // the least of the supported
    } else {
        return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
    if (const cudaError_t error = enter_cuda("cudaGetDeviceProperties")) return error;
    *properties = {};
    std::strcpy(properties->name, "stand-in");
    properties->totalGlobalMem = machine().memory_bytes;
    return cudaSuccess;
}

const char* cudaGetErrorString(cudaError_t) {
    return "an error of the stand-in";
}
}
