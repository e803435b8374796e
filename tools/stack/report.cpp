// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "names.hpp"

namespace etch::stack {
namespace {

std::string path_text(const Deepest& deepest, std::size_t red_zone) {
    std::string text;
    for (const Step& step : deepest.path) {
        if (!text.empty()) text += " > ";
        text += readable(step.symbol) + ' ' + std::to_string(step.bytes);
    }
    if (red_zone != 0) text += ", red zone " + std::to_string(red_zone);
    return text;
}

}  // namespace

Report report(const CallGraph& graph, const std::string& model, std::size_t budget) {
    std::vector<std::pair<std::string, Deepest>> functions;
    for (const std::string& function : graph.public_functions()) {
        functions.emplace_back(readable(function), graph.deepest(function));
    }
    std::stable_sort(functions.begin(), functions.end(),
                     [](const auto& a, const auto& b) { return a.second.bytes > b.second.bytes; });
    Report out{"stack of " + model + ", budget " + std::to_string(budget) + " bytes\n", true};
    for (const auto& [name, deepest] : functions) {
        const std::string bytes = std::to_string(deepest.bytes);
        out.text += std::string(bytes.size() < 7 ? 7 - bytes.size() : 0, ' ') + bytes + "  ";
        out.text += path_text(deepest, graph.red_zone());
        if (deepest.bytes > budget) {
            out.text += ": OVER BUDGET by " + std::to_string(deepest.bytes - budget);
            out.within_budget = false;
        }
        out.text += '\n';
    }
    return out;
}

}  // namespace etch::stack
