// SPDX-License-Identifier: Apache-2.0
// Runs each public function on a stack of its own that was painted before, and prints how deep the paint is gone: a
// line "KERNEL FUNCTION BYTES" each, after a line "budget BYTES". Where the C library's functions are bound lazily, the
// first call of each runs the dynamic linker on this stack, which the budget does not hold.
#include <agnews.hpp>
#include <cstdio>

#include "painted.hpp"
#include "texts.hpp"

namespace {

using namespace etch;

agnews::Workspace workspace;
agnews::Result result;
agnews::Encoding encoding;
Status status;
std::string_view text;

void classify() {
    status = agnews::classify(workspace, text, result);
}
void classify_pair() {
    status = agnews::classify_pair(workspace, text, text, result);
}
void classify_tokens() {
    status = agnews::classify_tokens(workspace, encoding.ids, encoding.segments, encoding.count, result);
}
void begin() {
    status = agnews::begin(workspace, text);
}
void step() {
    do
        status = agnews::step(workspace, 1'000'000, result);
    while (status == Status::in_progress);
}
void encode() {
    status = agnews::encode(workspace, text, encoding);
}
void encode_pair() {
    status = agnews::encode_pair(workspace, text, text, encoding);
}
void self_test() {
    status = agnews::self_test(workspace);
}

struct Function {
    const char* name;
    void (*call)();
    bool reads_text;
};

constexpr Function kFunctions[] = {
    {"classify", classify, true},
    {"classify_pair", classify_pair, true},
    {"encode_pair", encode_pair, true},
    {"encode", encode, true},
    {"classify_tokens", classify_tokens, false},
    {"self_test", self_test, false},
    {"begin", begin, true},
    {"step", step, false},
};

}  // namespace

int main() {
    std::printf("budget %zu\n", agnews::kStackBudget);
    for (std::size_t i = 0; !agnews::usable_kernel(i).empty(); ++i) {
        if (agnews::select_kernel(workspace, agnews::usable_kernel(i)) != Status::ok) return 1;
        const std::string_view name = agnews::kernel(workspace);
        for (const Function& of : kFunctions) {
            std::size_t deepest = 0;
            const auto take = [&](std::string_view one) {
                text = one;
                const std::size_t depth = painted::measure(of.call);
                if (depth > deepest) deepest = depth;
                return status == Status::ok;
            };
            for (const std::string_view one : promises::kShortTexts) {
                if (!of.reads_text) break;
                if (!take(one)) return 1;
            }
            // Last: what encode and begin make of it, classify_tokens and step go on with.
            if (!take(promises::kLongText.view())) return 1;
            std::printf("%.*s %s %zu\n", static_cast<int>(name.size()), name.data(), of.name, deepest);
        }
    }
    return 0;
}
