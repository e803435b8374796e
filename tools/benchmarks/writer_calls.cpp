// SPDX-License-Identifier: Apache-2.0
// Includes the model's own source, as generated: its passes have internal linkage, and take any runner. The one here
// reads the clock before and after each op; nothing of the model is changed for it.
#include ETCH_MODEL_SOURCE

#include "writer_calls.hpp"

#include <chrono>
#include <type_traits>

#include "etch/own_memory.hpp"
#include "op_traits.hpp"

namespace etch::bench {
namespace {

namespace model = etch::ETCH_MODEL;
using Generator = model::Generator;

WithOwnMemory<model::Workspace> own_workspace;
model::Workspace& workspace = own_workspace;
std::int32_t target[model::kMaxTarget];

template <class Weights>
void add_weights(std::vector<Bytes>& read, const Weights& w) {
    if constexpr (std::is_same_v<Weights, F32Weights>) {
        read.push_back({w.weights, packed_f32_elements(model::kPacking, w.outputs, w.inputs) * sizeof(float)});
    } else if (w.factors == nullptr) {
        read.push_back({w.weights, packed_s8_bytes(model::kPacking, w.outputs, w.inputs)});
    } else {
        read.push_back({w.weights, packed_s4_bytes(model::kPacking, w.outputs, w.inputs)});
        read.push_back({w.factors, packed_s4_factors(model::kPacking, w.outputs, w.inputs)});
    }
}

class TimingRunner {
  public:
    explicit TimingRunner(const OpContext& context) noexcept : context_(context) {}

    template <class Op>
    void operator()(const Op& op) const noexcept {
        const auto begin = std::chrono::steady_clock::now();
        op.run(context_, 0, op.units());
        const std::chrono::nanoseconds time = std::chrono::steady_clock::now() - begin;
        step.nanoseconds += static_cast<std::uint64_t>(time.count());
        if constexpr (IsLinear<Op>::value) {
            step.in_products += static_cast<std::uint64_t>(time.count());
            add_weights(step.weights, op.weights);
        }
    }

    const KernelSet& kernels() const noexcept { return context_.kernels; }

    mutable Step step;

  private:
    OpContext context_;
    FloatMode mode_;
};

bool select_kernel(std::string_view name) {
    return model::select_kernel(workspace, name) == Status::ok;
}

std::string_view kernel() {
    return model::kernel(workspace);
}

bool write(std::uint32_t count, TakeStep take, void* context) {
    const std::int32_t id = static_cast<std::int32_t>(model::kVocabulary / 2);
    const model::Arena a = calls::arena_in<model::Encoder>(workspace);
    const calls::TargetIds<Generator> written{target, model::kMaxTarget};
    const TimingRunner run(OpContext{chosen_kernels(model::kKernels, workspace.kernels), a.scratch});
    workspace.beams = 1;
    for (bool ends = true; count > 0;) {
        if (ends) {
            Tokenized tokens;
            const calls::TokenIds text{&id, nullptr, 1};
            if (calls::begin_writing<Generator>(workspace, text, a, model::kMaxTokens, 0, tokens) != Status::ok)
                return false;
            model::Encoder::forward(run, Texts{a.texts, 1}, a);
        }
        run.step = {};
        const bool chooses = calls::has_read_all<Generator>(a);
        calls::write_some<Generator>(run, a);
        if (chooses) {
            take(context, run.step);
            --count;
        }
        ends = calls::ends_writing<Generator>(a, written);
    }
    return true;
}

}  // namespace

extern const WriterCalls kWriterCalls{model::kModelName, model::kMaxTarget, select_kernel, kernel, write};

}  // namespace etch::bench
