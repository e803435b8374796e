// SPDX-License-Identifier: Apache-2.0
// One inference session on a GPU: its stream, its part of the device's memory, page-locked memory for the copies, and a
// CUDA graph for each length of a single text. Two sessions are independent, usable from two threads; one session must
// not be used from two threads at once. All memory is taken when the session is opened; CUDA itself may load the code
// of a product, into its context, when a batch of a new size first uses it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "etch/cuda/weights.hpp"
#include "etch/status.hpp"
#include "etch/tokenizer.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

struct KernelSet;

namespace cuda {

struct SessionState;  // in page-locked memory

// Bytes that a session took when it was opened.
struct SessionFigures {
    std::size_t device_bytes;     // as session_bytes() says, the workspace included
    std::size_t workspace_bytes;  // of these, for cuBLASLt
    std::size_t host_bytes;       // page-locked
    std::size_t graph_bytes;      // of device memory, what CUDA took for graphs and the stream
    std::uint32_t graphs;
};

// What Session<Model> is made of: the same for every model.
class DeviceSession {
  public:
    constexpr DeviceSession() noexcept = default;
    DeviceSession(const DeviceSession&) = delete;
    DeviceSession& operator=(const DeviceSession&) = delete;
    ~DeviceSession() noexcept { close(); }

    // Frees everything. Does nothing where nothing is open.
    void close() noexcept;

    bool is_open() const noexcept { return state != nullptr; }

    // How special tokens typed in a text are read from the next call on.
    SpecialTokens special_tokens = SpecialTokens::recognized;

    // Why the session cannot go on: an error of the device, which every later call reports, too. Open it again then.
    Status failure = Status::ok;

    SessionFigures figures = {};

    // Of the CPU: what results are made with from the model's outputs.
    const KernelSet* kernels = nullptr;

    SessionState* state = nullptr;
};

// `Model` ties it to the model whose open() fills it.
template <class Model>
class Session : public DeviceSession {};

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
