// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "etch/cuda/ops.hpp"
#include "etch/status.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

class Algorithms;

// Puts ops into a stream, products by the algorithms that were asked for when the session was opened. After a failure
// it does nothing more and keeps the first reason.
class Runner {
  public:
    struct Tools {
        void* library;  // cublasLtHandle_t
        void* stream;   // cudaStream_t
        std::uint8_t* workspace;
        std::size_t workspace_bytes;
        Algorithms* algorithms;
    };

    // An asking runner puts nothing into the stream: it asks cuBLASLt for the algorithm of each product that is new.
    Runner(const Tools& tools, bool asks) noexcept : tools_(tools), asks_(asks) {}

    Status status() const noexcept { return status_; }

    void operator()(const ProductS8& op) noexcept;
    void operator()(const ProductBf16& op) noexcept;
    void operator()(const EmbedAndNorm<S8Embedding, HiddenRows>& op) noexcept;
    void operator()(const EmbedAndNorm<S8Embedding, Bf16Rows>& op) noexcept;
    void operator()(const EmbedAndNorm<F32Embedding, Bf16Rows>& op) noexcept;
    void operator()(const SplitProjections& op) noexcept;
    void operator()(const AttentionS8& op) noexcept;
    void operator()(const AttentionBf16& op) noexcept;
    void operator()(const QuantizeValues& op) noexcept;
    void operator()(const Activate<Dequantized, S8Rows>& op) noexcept;
    void operator()(const Activate<Dequantized, F32Rows>& op) noexcept;
    void operator()(const Activate<Bf16Rows, Bf16Rows>& op) noexcept;
    void operator()(const Activate<Bf16Rows, F32Rows>& op) noexcept;
    void operator()(const AddAndNorm<Dequantized, F32Rows, HiddenRows>& op) noexcept;
    void operator()(const AddAndNorm<Bf16Rows, Bf16Rows, Bf16Rows>& op) noexcept;
    void operator()(const PoolRows<F32Rows>& op) noexcept;
    void operator()(const PoolRows<Bf16Rows>& op) noexcept;
    void operator()(const LinearRows& op) noexcept;

  private:
    template <class Product>
    void multiply(const Product& product) noexcept;
    template <class Kernel>
    void start(const Kernel& kernel) noexcept;

    Tools tools_;
    bool asks_;
    Status status_ = Status::ok;
};

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
