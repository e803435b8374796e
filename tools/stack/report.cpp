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
    const auto line = [&](std::size_t bytes, const std::string& text) {
        const std::string number = std::to_string(bytes);
        out.text += std::string(number.size() < 7 ? 7 - number.size() : 0, ' ') + number + "  " + text;
        if (bytes > budget) {
            out.text += ": OVER BUDGET by " + std::to_string(bytes - budget);
            out.within_budget = false;
        }
        out.text += '\n';
    };
    if (!graph.reset().empty()) {
        const Deepest reset = graph.deepest(graph.reset());
        std::size_t bytes = reset.bytes;
        std::string text = "whole program: " + path_text(reset, 0);
        for (const Deepest& handler : graph.interrupts()) {
            bytes += handler.bytes;
            text += " + interrupt " + std::to_string(kInterruptFrame) + " > " + path_text(handler, 0);
        }
        line(bytes, text);
    }
    for (const auto& [name, deepest] : functions)
        line(deepest.bytes, path_text(deepest, graph.red_zone()));
    return out;
}

}  // namespace etch::stack
