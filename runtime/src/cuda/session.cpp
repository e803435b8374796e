// SPDX-License-Identifier: Apache-2.0
// Opening and closing a session. All memory is taken here, every algorithm asked for, every graph made.
#include "etch/cuda/session.hpp"

#include <cstring>
#include <new>

#include "on_device.hpp"
#include "session_state.hpp"
#include "steps.hpp"
#include "taken_bytes.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {
namespace {

// Hands out the page-locked memory; without any it counts.
class HostPlaces {
  public:
    explicit HostPlaces(std::uint8_t* memory) noexcept : memory_(memory) {}

    template <class T>
    T* take(std::size_t count) noexcept {
        constexpr std::size_t kAlignment = 64;
        const std::size_t at = bytes_;
        bytes_ += round_up(count * sizeof(T), kAlignment);
        return memory_ == nullptr ? nullptr : reinterpret_cast<T*>(memory_ + at);
    }

    std::size_t bytes() const noexcept { return bytes_; }

  private:
    std::uint8_t* memory_;
    std::size_t bytes_ = 0;
};

std::uint32_t algorithm_places(const ModelPlan& model, const Capacity& capacity) noexcept {
    return Algorithms::places(model.products * bucket_count(capacity.rows));
}

// The state's arrays, behind it.
struct HostParts {
    Algorithms::Entry* algorithms;
    SessionState state;
};

HostParts lay_out(HostPlaces& at, const ModelPlan& model, const Capacity& capacity) noexcept {
    const std::uint32_t tokens = model.limits.max_tokens;
    at.take<SessionState>(1);
    HostParts parts{};
    SessionState& state = parts.state;
    state.model = &model;
    state.capacity = capacity;
    state.graph_count = bucket_count(tokens);
    state.graphs = at.take<cudaGraphExec_t>(state.graph_count);
    state.input = at.take<std::uint8_t>(input_bytes(capacity.rows, capacity.texts));
    state.texts = at.take<TextInfo>(capacity.texts);
    state.truncated = at.take<bool>(capacity.texts);
    state.outputs = at.take<float>(std::size_t{capacity.texts} * model.outputs);
    state.ids = at.take<std::int32_t>(tokens);
    state.segments = at.take<std::uint8_t>(tokens);
    state.tokenizer = at.take<std::uint8_t>(tokenizer_scratch_bytes(model.tokenizer));
    parts.algorithms = at.take<Algorithms::Entry>(algorithm_places(model, capacity));
    return parts;
}

// The session's state in new page-locked memory.
cudaError_t make_state(DeviceSession& session, const DeviceWeights& weights, const ModelPlan& model,
                       const Capacity& capacity) noexcept {
    HostPlaces counted(nullptr);
    lay_out(counted, model, capacity);
    session.figures.host_bytes = counted.bytes();
    void* memory = nullptr;
    const cudaError_t error = cudaMallocHost(&memory, counted.bytes());
    if (error != cudaSuccess) return error;
    std::memset(memory, 0, counted.bytes());
    HostPlaces places(static_cast<std::uint8_t*>(memory));
    const HostParts parts = lay_out(places, model, capacity);
    session.state = new (memory) SessionState(parts.state);
    session.state->weights = &weights;
    session.state->algorithms.begin(parts.algorithms, algorithm_places(model, capacity));
    return cudaSuccess;
}

cudaError_t make_memory(SessionState& state, std::size_t bytes) noexcept {
    void* memory = nullptr;
    const cudaError_t error = cudaMalloc(&memory, bytes);
    if (error != cudaSuccess) return error;
    state.memory = static_cast<std::uint8_t*>(memory);
    state.parts = state.model->lay_out(state.weights->mode, state.memory, state.capacity);
    return cudaSuccess;
}

Status ask_algorithms(SessionState& state) noexcept {
    Runner run = state.runner(true);
    for (std::uint32_t rows = kBucketRows; rows <= state.capacity.rows; rows = bucket(rows + 1))
        state.forward(run, {rows, rows / 16, rows});
    return run.status();
}

Status make_graph(SessionState& state, std::uint32_t rows, cudaGraphExec_t& executable) noexcept {
    cudaGraph_t graph = nullptr;
    Steps steps;
    // Once without capture, for nobody's rows: code that the device has not loaded yet cannot be loaded during one.
    steps.then([&] { return enqueue(state, single_text(rows), 1); }).then([&] {
        return cudaStreamBeginCapture(state.stream, cudaStreamCaptureModeThreadLocal);
    });
    if (!steps.ok()) return steps.status();
    steps.then([&] { return enqueue(state, single_text(rows), 1); })
        .always([&] { return cudaStreamEndCapture(state.stream, &graph); })
        .then([&] { return cudaGraphInstantiate(&executable, graph, 0); });
    if (graph != nullptr) steps.always([&] { return cudaGraphDestroy(graph); });
    return steps.then([&] { return cudaGraphUpload(executable, state.stream); }).status();
}

Status make_graphs(SessionState& state) noexcept {
    Steps steps;
    std::uint32_t rows = kBucketRows;
    for (std::uint32_t i = 0; i < state.graph_count; ++i, rows = bucket(rows + 1))
        steps.then([&] { return make_graph(state, rows, state.graphs[i]); });
    return steps.status();
}

bool possible(const ModelPlan& model, std::uint32_t rows) noexcept {
    return rows >= model.limits.max_tokens && rows <= kMostRows;
}

}  // namespace

std::size_t session_bytes(const ModelPlan& model, Mode mode, std::uint32_t rows) noexcept {
    if (!possible(model, rows)) return 0;
    return model.lay_out(mode, nullptr, capacity_of(rows)).bytes + kWorkspaceBytes;
}

Status open(DeviceSession& session, const DeviceWeights& weights, const ModelPlan& model, std::uint32_t rows) noexcept {
    session.close();
    if (!weights.is_open()) return Status::not_open;
    if (!possible(model, rows)) return Status::rows_out_of_range;
    const Capacity capacity = capacity_of(rows);
    const OnDevice on_device(weights.device);
    const std::size_t bytes = session_bytes(model, weights.mode, rows);
    std::size_t before = 0;
    std::size_t after = 0;
    Steps steps;
    steps.then([&] { return on_device.status(); })
        .then([&] { return make_state(session, weights, model, capacity); })
        .then([&] { return make_memory(*session.state, bytes); })
        .then([&] { return taken_bytes(before); })
        .then([&] { return cudaStreamCreateWithFlags(&session.state->stream, cudaStreamNonBlocking); })
        // Rows that no pass has written yet are finite, too.
        .then([&] {
            return cudaMemsetAsync(session.state->memory, 0, session.state->parts.bytes, session.state->stream);
        })
        .then([&] { return ask_algorithms(*session.state); })
        .then([&] { return make_graphs(*session.state); })
        .then([&] { return cudaStreamSynchronize(session.state->stream); })
        .then([&] { return taken_bytes(after); });
    if (!steps.ok()) {
        session.close();
        return steps.status();
    }
    session.figures.device_bytes = bytes;
    session.figures.workspace_bytes = kWorkspaceBytes;
    session.figures.graph_bytes = after > before ? after - before : 0;
    session.figures.graphs = session.state->graph_count;
    return Status::ok;
}

void DeviceSession::close() noexcept {
    failure = Status::ok;
    figures = {};
    if (state == nullptr) return;
    const OnDevice on_device(state->weights->device);
    if (state->stream != nullptr) cudaStreamSynchronize(state->stream);
    for (std::uint32_t i = 0; i < state->graph_count; ++i) {
        if (state->graphs[i] != nullptr) cudaGraphExecDestroy(state->graphs[i]);
    }
    if (state->stream != nullptr) cudaStreamDestroy(state->stream);
    if (state->memory != nullptr) cudaFree(state->memory);
    cudaFreeHost(state);
    state = nullptr;
}

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
