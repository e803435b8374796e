// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "call_graph.hpp"

namespace etch::stack {

struct Report {
    std::string text;  // a line per public function, deepest first, and how it gets there
    bool within_budget;
};

Report report(const CallGraph& graph, const std::string& model, std::size_t budget);

}  // namespace etch::stack
