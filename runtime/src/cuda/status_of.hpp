// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublasLt.h>
#include <driver_types.h>

#include "etch/status.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

// The status that a call's error becomes.
Status status_of(cudaError_t error) noexcept;
Status status_of(cublasStatus_t error) noexcept;

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
