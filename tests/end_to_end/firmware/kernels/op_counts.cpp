// SPDX-License-Identifier: Apache-2.0
// Instructions of each op of a model's own forward pass, and of a whole call. Includes the model's source as generated:
// its forward pass has internal linkage, and takes any runner. Prints a line for each op, in the order of the pass,
//     op INSTRUCTIONS INPUTS OUTPUTS MACS TYPE
// where the type is in the text behind "T = ",
// and at the end `kernel NAME` and `call TOKENS INSTRUCTIONS`: of classify(), counted in a run of its own.
#include ETCH_MODEL_SOURCE

#include "counting.hpp"
#include "op_traits.hpp"

namespace {

namespace model = etch::ETCH_MODEL;

// About as long as a piece of news.
constexpr std::string_view kText =
    "Shares of the small chip maker rose four percent in early trading on Tuesday after the company said that orders "
    "for its new line of sensors, which farmers use to water their fields, were twice as high in the third quarter as "
    "analysts had expected, and that it would open a second plant in Spain.";

model::Workspace workspace;
model::Result result;

class CountingRunner {
  public:
    explicit CountingRunner(const etch::OpContext& context) noexcept : context_(context) {}

    template <class Op>
    void operator()(const Op& op) const noexcept {
        board::restart_clock();
        op.run(context_, 0, op.units());
        const std::uint64_t spent = counting::instructions();
        output::print("op ");
        output::print(spent);
        if constexpr (etch::IsLinear<Op>::value) {
            const std::uint64_t macs = std::uint64_t{op.count} * op.weights.inputs * op.weights.outputs;
            counting::print_numbers({op.weights.inputs, op.weights.outputs, macs});
        } else if constexpr (etch::IsAttention<Op>::value) {
            const std::uint64_t scores = std::uint64_t{op.block.count} * op.texts.texts[0].count * op.shape.heads;
            counting::print_numbers({0, 0, 2 * scores * op.shape.head_width});
        } else {
            counting::print_numbers({0, 0, 0});
        }
        output::print(" ");
        output::print(counting::type_text<Op>());
        output::print("\n");
    }

  private:
    etch::OpContext context_;
};

}  // namespace

int main() {
    board::restart_clock();
    if (model::classify(workspace, kText, result) != etch::Status::ok) board::finish(1);
    const std::uint64_t spent = counting::instructions();

    // The token ids of that call are gone: the same number of others.
    const model::Arena arena{workspace.arena};
    for (std::uint32_t i = 0; i < result.tokens; ++i) {
        arena.ids[i] = static_cast<std::int32_t>((i * 7 + 5) % model::kVocabulary);
        arena.segments[i] = 0;
    }
    arena.texts[0] = etch::whole_text(result.tokens);
    const CountingRunner runner(etch::OpContext{*workspace.kernels, arena.scratch});
    const etch::Texts texts{arena.texts, 1};
    model::Encoder::forward(runner, texts, arena);
    model::Head::compute(runner, texts, 0, arena);
    output::print("kernel ");
    output::print(model::kernel(workspace));
    output::print("\ncall ");
    output::print(std::uint64_t{result.tokens});
    output::print(" ");
    output::print(spent);
    output::print("\n");
    board::finish(0);
}
