// SPDX-License-Identifier: Apache-2.0
#include "status_of.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

Status status_of(cudaError_t error) noexcept {
    switch (error) {
        case cudaSuccess:
            return Status::ok;
        case cudaErrorNoDevice:
            return Status::no_device;
        case cudaErrorInvalidDevice:
            return Status::device_unknown;
        case cudaErrorInsufficientDriver:
        case cudaErrorSystemDriverMismatch:
        case cudaErrorCompatNotSupportedOnDevice:
            return Status::driver_too_old;
        case cudaErrorNoKernelImageForDevice:
        case cudaErrorUnsupportedPtxVersion:
            return Status::device_not_supported;
        case cudaErrorMemoryAllocation:
            return Status::device_out_of_memory;
        default:
            return Status::device_failed;
    }
}

Status status_of(cublasStatus_t error) noexcept {
    switch (error) {
        case CUBLAS_STATUS_SUCCESS:
            return Status::ok;
        case CUBLAS_STATUS_ALLOC_FAILED:
            return Status::device_out_of_memory;
        case CUBLAS_STATUS_ARCH_MISMATCH:
            return Status::device_not_supported;
        default:
            return Status::device_library_failed;
    }
}

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
