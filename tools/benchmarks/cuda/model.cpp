// SPDX-License-Identifier: Apache-2.0
// Includes the model's own source, as generated: its forward pass has internal linkage, and takes any runner.
#include ETCH_MODEL_CUDA_SOURCE

#include "model.hpp"

#include <type_traits>

#include "../type_name.hpp"

namespace etch::bench {
namespace {

namespace model = etch::ETCH_MODEL;

// Never closed at the end: CUDA cannot be used once main() has ended.
model::cuda::Weights& weights = *new model::cuda::Weights;
model::cuda::Session& session = *new model::cuda::Session;

class WatchedRunner {
  public:
    WatchedRunner(cuda::Runner& run, Watch& watch) noexcept : run_(run), watch_(watch) {}

    template <class Op>
    void operator()(const Op& op) noexcept {
        constexpr bool kProduct = std::is_same_v<Op, cuda::ProductS8> || std::is_same_v<Op, cuda::ProductBf16>;
        if (watch_.before(type_name<Op>(), kProduct)) run_(op);
    }

  private:
    cuda::Runner& run_;
    Watch& watch_;
};

Status open(cuda::Mode mode, std::uint32_t rows) {
    session.close();
    const Status status = model::cuda::open(weights, 0, mode);
    return status == Status::ok ? model::cuda::open(session, weights, rows) : status;
}

cuda::SessionState& state() {
    return *session.state;
}

Status run(const std::int32_t* ids, std::uint32_t count) {
    return cuda::compute_tokens(session, ids, nullptr, count);
}

Status forward(const cuda::Pass& pass, Watch& watch) {
    cuda::SessionState& s = state();
    cuda::Runner runner = s.runner(false);
    WatchedRunner watched(runner, watch);
    model::cuda::Modes::forward(watched, s.weights->mode, static_cast<std::uint8_t*>(s.weights->memory), s.memory,
                                s.capacity, pass);
    return runner.status();
}

}  // namespace

extern const GpuModel kModel = {model::kModelName,
                                model::kRecipe,
                                model::cuda::kExact,
                                model::kMaxTokens,
                                model::kVocabulary,
                                open,
                                state,
                                run,
                                forward};

}  // namespace etch::bench
