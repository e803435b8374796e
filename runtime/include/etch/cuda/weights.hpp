// SPDX-License-Identifier: Apache-2.0
// A model's weights in the memory of one GPU. Sessions share them; they are const once they are open.
#pragma once

#include <cstddef>

#include "etch/cuda/mode.hpp"
#include "etch/status.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

// What Weights<Model> is made of: the same for every model.
class DeviceWeights {
  public:
    constexpr DeviceWeights() noexcept = default;
    DeviceWeights(const DeviceWeights&) = delete;
    DeviceWeights& operator=(const DeviceWeights&) = delete;
    ~DeviceWeights() noexcept { close(); }

    // Frees the memory; the sessions that use it are closed first. Does nothing where nothing is open.
    void close() noexcept;

    bool is_open() const noexcept { return memory != nullptr; }

    // Set by the model's open(). Bytes: of device memory, as weights_bytes() says, and what CUDA and cuBLASLt took of
    // it for themselves meanwhile (a context, where this was its first use).
    int device = 0;
    Mode mode = Mode::exact;
    std::size_t bytes = 0;
    std::size_t context_bytes = 0;

    void* memory = nullptr;   // device
    void* library = nullptr;  // cublasLtHandle_t
};

// `Model` ties them to the model whose open() fills them.
template <class Model>
class Weights : public DeviceWeights {};

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
