// SPDX-License-Identifier: Apache-2.0
// As painted_stack.cpp, of a generative model: a line "budget BYTES", then "KERNEL FUNCTION BYTES" each.
#include ETCH_MODEL_HEADER

#include <cstdio>

#include "painted.hpp"
#include "texts.hpp"

namespace {

namespace model = etch::ETCH_MODEL;
using etch::Status;

model::Workspace workspace;
model::Result result;
model::Encoding encoding;
char target[1 << 16];
std::int32_t ids[model::kMaxTarget];
Status status;
std::string_view text;

void write() {
    status = model::ETCH_TASK()(workspace, text, target, sizeof target, result);
}
void write_tokens() {
    status = model::ETCH_TASK(_tokens)(workspace, encoding.ids, encoding.count, ids, model::kMaxTarget, result);
}
void encode() {
    status = model::encode(workspace, text, encoding);
}
void begin() {
    status = model::begin(workspace, text);
}
void step() {
    do
        status = model::step(workspace, 100'000, target, sizeof target, result);
    while (status == Status::in_progress);
}
void self_test() {
    status = model::self_test(workspace);
}

struct Function {
    const char* name;
    void (*call)();
};

// What encode and begin make of the text, those behind them go on with.
constexpr Function kFunctions[] = {{"write", write}, {"encode", encode}, {"write_tokens", write_tokens},
                                   {"begin", begin}, {"step", step},     {"self_test", self_test}};

}  // namespace

int main() {
    std::printf("budget %zu\n", model::kStackBudget);
    for (std::size_t i = 0; !model::usable_kernel(i).empty(); ++i) {
        if (model::select_kernel(workspace, model::usable_kernel(i)) != Status::ok) return 1;
        const std::string_view name = model::kernel(workspace);
        for (const std::string_view one : {promises::kShortTexts[5], promises::kLongText.view()}) {
            text = one;
            for (const Function& of : kFunctions) {
                const std::size_t depth = painted::measure(of.call);
                if (status != Status::ok) return 1;
                std::printf("%.*s %s %zu\n", static_cast<int>(name.size()), name.data(), of.name, depth);
            }
        }
    }
    return 0;
}
