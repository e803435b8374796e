// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "cuda/status_of.hpp"

namespace {

using etch::Status;
using etch::cuda::status_of;

TEST(StatusOf, ErrorsOfTheRuntime) {
    EXPECT_EQ(status_of(cudaSuccess), Status::ok);
    EXPECT_EQ(status_of(cudaErrorNoDevice), Status::no_device);
    EXPECT_EQ(status_of(cudaErrorInvalidDevice), Status::device_unknown);
    EXPECT_EQ(status_of(cudaErrorInsufficientDriver), Status::driver_too_old);
    EXPECT_EQ(status_of(cudaErrorSystemDriverMismatch), Status::driver_too_old);
    EXPECT_EQ(status_of(cudaErrorCompatNotSupportedOnDevice), Status::driver_too_old);
    EXPECT_EQ(status_of(cudaErrorNoKernelImageForDevice), Status::device_not_supported);
    EXPECT_EQ(status_of(cudaErrorUnsupportedPtxVersion), Status::device_not_supported);
    EXPECT_EQ(status_of(cudaErrorMemoryAllocation), Status::device_out_of_memory);
    for (const cudaError_t error : {cudaErrorIllegalAddress, cudaErrorLaunchFailure, cudaErrorInvalidValue,
                                    cudaErrorStreamCaptureInvalidated, cudaErrorUnknown})
        EXPECT_EQ(status_of(error), Status::device_failed);
}

TEST(StatusOf, ErrorsOfTheLibrary) {
    EXPECT_EQ(status_of(CUBLAS_STATUS_SUCCESS), Status::ok);
    EXPECT_EQ(status_of(CUBLAS_STATUS_ALLOC_FAILED), Status::device_out_of_memory);
    EXPECT_EQ(status_of(CUBLAS_STATUS_ARCH_MISMATCH), Status::device_not_supported);
    for (const cublasStatus_t error : {CUBLAS_STATUS_NOT_INITIALIZED, CUBLAS_STATUS_INVALID_VALUE,
                                       CUBLAS_STATUS_NOT_SUPPORTED, CUBLAS_STATUS_EXECUTION_FAILED})
        EXPECT_EQ(status_of(error), Status::device_library_failed);
}

}  // namespace
