// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include "status_of.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

// Makes a device the calling thread's, and in the end the one that was its before.
class OnDevice {
  public:
    explicit OnDevice(int device) noexcept {
        cudaError_t error = cudaGetDevice(&before_);
        if (error == cudaSuccess && before_ != device) {
            error = cudaSetDevice(device);
            changed_ = error == cudaSuccess;
        }
        status_ = status_of(error);
    }
    ~OnDevice() noexcept {
        if (changed_) cudaSetDevice(before_);
    }
    OnDevice(const OnDevice&) = delete;
    OnDevice& operator=(const OnDevice&) = delete;

    Status status() const noexcept { return status_; }

  private:
    int before_ = 0;
    bool changed_ = false;
    Status status_;
};

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
