// SPDX-License-Identifier: Apache-2.0
// What `gcc -fcallgraph-info=su` writes beside an object: a VCG graph with a node per function that was compiled or is
// called, and an edge per call that is left in the machine code.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace etch::stack {

// Name of the node that calls through a pointer lead to.
inline constexpr const char* kIndirectCall = "__indirect_call";

// Functions by their names in the object's symbol table.
struct CompiledFunction {
    std::string name;
    std::size_t frame;  // bytes, return address included
    bool unbounded;     // alloca() or a variable-length array
};

struct Call {
    std::string caller;
    std::string callee;
};

struct CallgraphInfo {
    std::vector<CompiledFunction> functions;
    std::vector<Call> calls;
};

// Throws Failure where the file is missing or not of this format.
CallgraphInfo read_callgraph_info(const std::string& path);

}  // namespace etch::stack
