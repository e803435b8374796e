// SPDX-License-Identifier: Apache-2.0
// Includes the model's own source, as generated: its forward pass has internal linkage, and takes any runner. The one
// here reads the clock before and after each op; nothing of the model is changed for it.
#include ETCH_MODEL_SOURCE

#include "model_calls.hpp"

#include <ctime>
#include <optional>
#include <type_traits>
#include <vector>

#include "etch/hosted/thread_pool.hpp"
#include "etch/own_memory.hpp"
#include "op_traits.hpp"
#include "type_name.hpp"

namespace etch::bench {
namespace {

namespace model = etch::ETCH_MODEL;

WithOwnMemory<model::Workspace> own_workspace;
model::Workspace& workspace = own_workspace;
model::Result result;
model::Encoding encoding;

std::optional<hosted::ThreadPool> pool;
std::vector<std::uint8_t> scratch;  // of the pool's workers
Executor executor;

std::uint64_t nanoseconds() noexcept {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

template <class T, class = void>
struct HasCount : std::false_type {};
template <class T>
struct HasCount<T, std::void_t<decltype(std::declval<const T&>().count)>> : std::true_type {};

class TimingRunner {
  public:
    TimingRunner(const OpContext& context, TakeOpRun take, void* taker) noexcept
        : share_(context, workspace.executor, model::kScratchBytes), take_(take), taker_(taker) {}

    template <class Op>
    void operator()(const Op& op) const noexcept {
        const std::uint64_t begin = nanoseconds();
        share_(op);
        OpRun run{type_name<Op>(), 0, 0, 0, 0.0, nanoseconds() - begin};
        if constexpr (HasCount<Op>::value) run.rows = op.count;
        if constexpr (IsLinear<Op>::value) {
            run.inputs = op.weights.inputs;
            run.outputs = op.weights.outputs;
            run.macs = 1.0 * run.rows * run.inputs * run.outputs;
        }
        if constexpr (IsAttention<Op>::value) {
            for (const TextPart part : TextParts(op.texts, op.block))
                run.macs += 2.0 * part.count * part.text.count * op.shape.heads * op.shape.head_width;
        }
        take_(taker_, run);
    }

    const KernelSet& kernels() const noexcept { return share_.kernels(); }

  private:
    SharingRunner share_;
    TakeOpRun take_;
    void* taker_;
};

bool select_kernel(std::string_view name) {
    return model::select_kernel(workspace, name) == Status::ok;
}

std::string_view kernel() {
    return model::kernel(workspace);
}

bool share(std::uint32_t threads) {
    workspace.executor = nullptr;
    pool.reset();
    if (threads == 1) return true;
    pool.emplace(threads);
    if (pool->threads() != threads) return false;
    constexpr std::size_t kAlignment = 64;
    scratch.resize((threads - 1) * model::kScratchBytes + kAlignment);
    const auto address = reinterpret_cast<std::uintptr_t>(scratch.data());
    executor = pool->executor(scratch.data() + (kAlignment - address % kAlignment) % kAlignment);
    workspace.executor = &executor;
    return true;
}

bool run(const std::int32_t* ids, std::uint32_t count) {
    return model::ETCH_MODEL_CALL(workspace, ids, nullptr, count, result) == Status::ok;
}

std::uint32_t encode(std::string_view text) {
    return model::encode(workspace, text, encoding) == Status::ok ? encoding.count : 0;
}

bool take_turn() {
    const calls::Turn turn(workspace);
    return static_cast<bool>(turn);
}

void run_ops(const std::int32_t* ids, std::uint32_t count, TakeOpRun take, void* context) {
    const model::Arena a = calls::arena_in<model::Encoder>(workspace);
    for (std::uint32_t i = 0; i < count; ++i) {
        a.ids[i] = ids[i];
        a.segments[i] = 0;
    }
    a.texts[0] = whole_text(count);
    const TimingRunner runner(OpContext{chosen_kernels(model::kKernels, workspace.kernels), a.scratch}, take, context);
    model::Encoder::forward(runner, Texts{a.texts, 1}, a);
}

}  // namespace

extern const ModelCalls kModelCalls{
    model::kModelName, model::kRecipe, model::kMaxTokens, model::kVocabulary, select_kernel, kernel, share, run, encode,
    take_turn,         run_ops};

}  // namespace etch::bench
