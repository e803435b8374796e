// SPDX-License-Identifier: Apache-2.0
// etch-stack MODEL BUDGET REPORT PUBLIC_OBJECT... -- OTHER_OBJECT... [-- LINKER_SYMBOL...]
//
// Bounds the stack of every function with external linkage in the public objects (a generated model), which call into
// the other ones (the runtime). What a linker script defines is in none of them, and no function. Writes REPORT and
// exits 0 where all are within BUDGET bytes; else prints it, exits 1.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "call_graph.hpp"
#include "failure.hpp"
#include "report.hpp"

namespace etch::stack {
namespace {

int run(const std::vector<std::string>& arguments) {
    if (arguments.size() < 4)
        throw Failure("usage: etch-stack MODEL BUDGET REPORT PUBLIC_OBJECT... -- OTHER_OBJECT... [-- SYMBOL...]");
    char* end = nullptr;
    const std::size_t budget = std::strtoull(arguments[1].c_str(), &end, 10);
    if (budget == 0 || *end != '\0') throw Failure("not a budget: " + arguments[1]);
    CallGraph graph;
    enum { kPublic, kOther, kSymbols };
    int group = kPublic;
    for (std::size_t i = 3; i < arguments.size(); ++i) {
        if (arguments[i] == "--") {
            ++group;
        } else if (group < kSymbols) {
            graph.add(arguments[i], group == kPublic);
        } else {
            graph.add_data(arguments[i]);
        }
    }
    if (graph.public_functions().empty()) throw Failure("the public objects have no public function");
    const Report result = report(graph, arguments[0], budget);
    if (!result.within_budget) {
        std::fputs(result.text.c_str(), stderr);
        return 1;
    }
    std::ofstream(arguments[2]) << result.text;
    return 0;
}

}  // namespace
}  // namespace etch::stack

int main(int argc, char** argv) {
    try {
        return etch::stack::run({argv + 1, argv + argc});
    } catch (const etch::stack::Failure& failure) {
        std::fprintf(stderr, "etch-stack: %s: %s\n", argc > 1 ? argv[1] : "", failure.what());
        return 1;
    }
}
