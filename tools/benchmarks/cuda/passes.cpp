// SPDX-License-Identifier: Apache-2.0
#include "passes.hpp"

#include <algorithm>
#include <cstring>
#include <deque>

#include "model.hpp"
#include "spare_kernels.hpp"

namespace etch::bench {
namespace {

constexpr std::uint64_t kDelay = 2'000'000;  // ns: longer than putting a pass into the stream takes

std::int32_t some_id(std::uint32_t row) {
    return static_cast<std::int32_t>((row * 7919u + 1) % kModel.vocabulary);
}

cuda::Pass pass_of(const Shape& shape) {
    const std::uint32_t rows = cuda::bucket(shape.texts * shape.tokens);
    return shape.texts == 1 ? cuda::single_text(rows) : cuda::Pass{rows, shape.texts, shape.tokens};
}

// Texts of a shape in the page-locked input, as a call leaves them there.
void stage(const Shape& shape) {
    cuda::SessionState& state = kModel.state();
    const std::uint32_t rows = shape.texts * shape.tokens;
    const std::uint32_t most = pass_of(shape).rows;
    const cuda::Counts counts{rows, shape.texts, {}};
    std::memcpy(state.input, &counts, sizeof counts);
    auto* const tokens = reinterpret_cast<cuda::RowInfo*>(state.input + sizeof counts);
    auto* const texts = reinterpret_cast<cuda::TextInfo*>(state.input + cuda::input_bytes(most, 0));
    for (std::uint32_t row = 0; row < rows; ++row)
        tokens[row] = {some_id(row), 0, row % shape.tokens, row / shape.tokens};
    const auto places = static_cast<std::uint32_t>(round_up(shape.tokens, cuda::kTile));
    for (std::uint32_t text = 0; text < shape.texts; ++text)
        texts[text] = {text * shape.tokens, shape.tokens, text * places, 0};
}

class EmptyKernels : public Watch {
  public:
    bool before(std::string_view, bool product) override {
        if (!product) check("an empty kernel", launch_nothing(kModel.state().stream));
        return product;
    }
};

class Events : public Watch {
  public:
    bool before(std::string_view op, bool) override {
        if (names.size() == points.size()) points.emplace_back();
        points[names.size()].record(kModel.state().stream);
        names.emplace_back(op);
        return true;
    }

    void end() {
        if (names.size() == points.size()) points.emplace_back();
        points[names.size()].record(kModel.state().stream);
    }

    std::vector<std::string> names;
    std::deque<Event> points;  // one before each op, one behind the last
};

// The pass with what stands for our kernels, both copies included.
void enqueue_bound(const Shape& shape) {
    cuda::SessionState& state = kModel.state();
    const cuda::Pass pass = pass_of(shape);
    EmptyKernels empty;
    check("copy to the GPU", cudaMemcpyAsync(state.parts.input, state.input, cuda::input_bytes(pass.rows, shape.texts),
                                             cudaMemcpyHostToDevice, state.stream));
    check("the products", kModel.forward(pass, empty));
    const std::size_t outputs = std::size_t{shape.texts} * state.model->outputs * sizeof(float);
    check("copy from the GPU",
          cudaMemcpyAsync(state.outputs, state.parts.outputs, outputs, cudaMemcpyDeviceToHost, state.stream));
}

class Graph {
  public:
    explicit Graph(const Shape& shape) {
        const cudaStream_t stream = kModel.state().stream;
        cudaGraph_t graph = nullptr;
        check("capture", cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        enqueue_bound(shape);
        check("end of capture", cudaStreamEndCapture(stream, &graph));
        check("graph", cudaGraphInstantiate(&executable_, graph, 0));
        cudaGraphDestroy(graph);
    }
    ~Graph() { cudaGraphExecDestroy(executable_); }
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;

    void launch() const { check("graph launch", cudaGraphLaunch(executable_, kModel.state().stream)); }

  private:
    cudaGraphExec_t executable_ = nullptr;
};

void wait() {
    check("the stream", cudaStreamSynchronize(kModel.state().stream));
}

// Microseconds on the GPU of what `enqueue` puts into the stream.
template <class Enqueue>
double gpu_time(const Effort& effort, Enqueue enqueue) {
    const cudaStream_t stream = kModel.state().stream;
    Event begin;
    Event end;
    std::vector<double> times;
    for (unsigned i = 0; i < effort.warm_up + effort.runs; ++i) {
        check("the delay", launch_delay(stream, kDelay));
        begin.record(stream);
        enqueue();
        end.record(stream);
        wait();
        if (i >= effort.warm_up) times.push_back(end.microseconds_since(begin));
    }
    return times_of(std::move(times)).median;
}

void enqueue_pass(const Shape& shape) {
    cuda::SessionState& state = kModel.state();
    if (shape.texts == 1) {
        const std::uint32_t graph = cuda::bucket_count(pass_of(shape).rows) - 1;
        check("graph launch", cudaGraphLaunch(state.graphs[graph], state.stream));
    } else {
        check("a batch", cuda::enqueue(state, pass_of(shape), shape.texts));
    }
}

}  // namespace

PassTimes measure_pass(const Shape& shape, const Effort& effort) {
    PassTimes times{};
    if (shape.texts == 1) {
        std::vector<std::int32_t> ids(shape.tokens);
        for (std::uint32_t i = 0; i < shape.tokens; ++i)
            ids[i] = some_id(i);
        times.call = measure(effort, [&] { check("a call", kModel.run(ids.data(), shape.tokens)); });
    }
    stage(shape);
    const auto pass = [&] { enqueue_pass(shape); };
    if (shape.texts > 1) {
        times.call = measure(effort, [&] {
            pass();
            wait();
        });
    }
    const Effort fewer{effort.warm_up / 4, effort.runs / 4 + 1};  // the delays take their time
    times.gpu = gpu_time(fewer, pass);
    const Graph bound(shape);
    times.bound = measure(effort, [&] {
                      bound.launch();
                      wait();
                  }).median;
    times.bound_gpu = gpu_time(fewer, [&] { bound.launch(); });
    return times;
}

std::vector<OpTime> measure_ops(const Shape& shape, const Effort& effort) {
    stage(shape);
    enqueue_pass(shape);  // copies the input
    Events events;
    std::vector<std::vector<double>> times;  // [op][run]
    for (unsigned i = 0; i < effort.warm_up + effort.runs; ++i) {
        events.names.clear();
        check("the delay", launch_delay(kModel.state().stream, kDelay));
        check("the ops", kModel.forward(pass_of(shape), events));
        events.end();
        wait();
        times.resize(events.names.size());
        for (std::size_t op = 0; i >= effort.warm_up && op < times.size(); ++op)
            times[op].push_back(events.points[op + 1].microseconds_since(events.points[op]));
    }
    std::vector<OpTime> ops;
    for (std::size_t op = 0; op < times.size(); ++op) {
        auto found = std::find_if(ops.begin(), ops.end(), [&](const OpTime& o) { return o.op == events.names[op]; });
        if (found == ops.end()) found = ops.insert(ops.end(), OpTime{events.names[op], 0, 0});
        ++found->calls;
        found->microseconds += times_of(times[op]).median;
    }
    return ops;
}

}  // namespace etch::bench
