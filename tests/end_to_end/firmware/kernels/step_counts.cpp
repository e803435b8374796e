// SPDX-License-Identifier: Apache-2.0
// Instructions of a call in steps, of a text that fills the model. Prints for each op, in the order of the pass,
//     op UNITS LARGEST COST TYPE
// with the instructions of its largest unit, the cost that a budget counts for one, and the type in the text behind
// "T = "; then for some budgets
//     steps BUDGET COUNT LONGEST ALL
// with the instructions of the longest step and of all; `kernel NAME`, and `call TOKENS BYTES BEGIN INSTRUCTIONS`: the
// text's tokens and bytes, the instructions of begin() and of classify().
#include ETCH_MODEL_SOURCE

#include "counting.hpp"
#include "texts.hpp"

namespace {

namespace model = etch::ETCH_MODEL;
using counting::instructions;

constexpr std::string_view kText = promises::kLongText.view().substr(0, 1024);  // the longest line of the firmware
constexpr std::uint64_t kBudgets[] = {1, 10'000, 30'000, 100'000, 300'000, 1'000'000, ~std::uint64_t{0}};

model::Workspace workspace;
model::Result result;

class UnitRunner {
  public:
    explicit UnitRunner(const etch::OpContext& context) noexcept : context_(context) {}

    template <class Op>
    void operator()(const Op& op) const noexcept {
        const std::uint32_t units = op.units();
        std::uint64_t largest = 0;
        for (std::uint32_t unit = 0; unit < units; ++unit) {
            board::restart_clock();
            op.run(context_, unit, unit + 1);
            const std::uint64_t spent = instructions();
            if (spent > largest) largest = spent;
        }
        output::print("op");
        counting::print_numbers({units, largest, (op.cost() + units - 1) / units});
        output::print(" ");
        output::print(counting::type_text<Op>());
        output::print("\n");
    }

  private:
    etch::OpContext context_;
};

std::uint64_t begin() {
    board::restart_clock();
    if (model::begin(workspace, kText) != etch::Status::ok) board::finish(1);
    return instructions();
}

void print_steps(std::uint64_t budget) {
    std::uint64_t count = 0;
    std::uint64_t longest = 0;
    std::uint64_t all = begin();
    etch::Status status = etch::Status::in_progress;
    while (status == etch::Status::in_progress) {
        board::restart_clock();
        status = model::step(workspace, budget, result);
        const std::uint64_t spent = instructions();
        if (spent > longest) longest = spent;
        all += spent;
        ++count;
    }
    if (status != etch::Status::ok) board::finish(1);
    output::print("steps");
    counting::print_numbers({budget, count, longest, all});
    output::print("\n");
}

}  // namespace

int main() {
    board::restart_clock();
    if (model::classify(workspace, kText, result) != etch::Status::ok) board::finish(1);
    const std::uint64_t call = instructions();

    const std::uint64_t begun = begin();
    const model::Arena arena{workspace.arena};
    const UnitRunner runner(etch::OpContext{*workspace.kernels, arena.scratch});
    const etch::Texts texts{arena.texts, 1};
    model::Encoder::forward(runner, texts, arena);
    model::Head::compute(runner, texts, 0, arena);
    for (const std::uint64_t budget : kBudgets)
        print_steps(budget);
    output::print("kernel ");
    output::print(model::kernel(workspace));
    output::print("\ncall");
    counting::print_numbers({result.tokens, kText.size(), begun, call});
    output::print("\n");
    board::finish(0);
}
