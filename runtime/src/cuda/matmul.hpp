// SPDX-License-Identifier: Apache-2.0
// One product as cuBLASLt sees it. Our rows are its columns: D [outputs x rows] = W^T [outputs x inputs] X [inputs x
// rows], all column-major; W is transposed, X is not ("TN"), the only form that has 8-bit kernels.
#pragma once

#include <cublasLt.h>

#include <cstddef>
#include <cstdint>

#include "etch/cuda/ops.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

struct Matmul {
    enum class Kind : std::uint8_t { s8, bf16, bf16_relu, bf16_gelu };

    Kind kind;
    std::uint32_t rows;
    std::uint32_t outputs;  // padded
    std::uint32_t inputs;   // padded
    const void* in;
    const void* weights;
    const void* bias;  // null for s8
    void* out;
};

Matmul matmul_of(const ProductS8& product) noexcept;
Matmul matmul_of(const ProductBf16& product) noexcept;

// The fastest algorithm that needs no more than `workspace_bytes`, as cuBLASLt estimates it.
cublasStatus_t ask(cublasLtHandle_t library, const Matmul& matmul, std::size_t workspace_bytes,
                   cublasLtMatmulAlgo_t& algorithm) noexcept;

cublasStatus_t multiply(cublasLtHandle_t library, const Matmul& matmul, const cublasLtMatmulAlgo_t& algorithm,
                        void* workspace, std::size_t workspace_bytes, cudaStream_t stream) noexcept;

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
