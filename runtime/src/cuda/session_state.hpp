// SPDX-License-Identifier: Apache-2.0
// A session's host side, in one piece of page-locked memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "algorithms.hpp"
#include "etch/cuda/model.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

struct SessionState {
    const ModelPlan* model;
    const DeviceWeights* weights;
    Capacity capacity;
    std::uint8_t* memory;  // device
    SessionMemory parts;   // of it
    cudaStream_t stream;
    Algorithms algorithms;
    std::uint32_t graph_count;
    cudaGraphExec_t* graphs;  // [graph_count] of single texts, by bucket; null where there is none yet

    // What the next pass computes.
    std::uint8_t* input;  // as it will lie in device memory
    TextInfo* texts;      // [capacity.texts]
    bool* truncated;      // [capacity.texts]
    std::uint32_t row_count;
    std::uint32_t text_count;
    std::uint32_t place_count;

    float* outputs;           // [capacity.texts][model->outputs]
    std::int32_t* ids;        // [max_tokens]
    std::uint8_t* segments;   // [max_tokens]
    std::uint8_t* tokenizer;  // scratch

    Runner runner(bool asks) noexcept {
        return Runner({weights->library, stream, memory + parts.bytes, kWorkspaceBytes, &algorithms}, asks);
    }

    void forward(Runner& run, const Pass& pass) const noexcept {
        model->forward(run, weights->mode, static_cast<std::uint8_t*>(weights->memory), memory, capacity, pass);
    }
};

// Puts a pass into the stream, both copies included; `texts` of its texts are copied.
Status enqueue(SessionState& state, const Pass& pass, std::uint32_t texts) noexcept;

// That of a single text of the bucket `rows`.
constexpr Pass single_text(std::uint32_t rows) noexcept {
    return {rows, 1, rows};
}

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
