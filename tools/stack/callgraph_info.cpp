// SPDX-License-Identifier: Apache-2.0
#include "callgraph_info.hpp"

#include <cstdlib>
#include <fstream>
#include <optional>
#include <string_view>

#include "failure.hpp"

namespace etch::stack {
namespace {

// Text between `key: "` and the quote that ends it: the next one, or the line's last for a label.
std::optional<std::string_view> attribute(std::string_view line, std::string_view key, bool to_last_quote = false) {
    const std::string start = std::string(key) + ": \"";
    const std::size_t at = line.find(start);
    if (at == std::string_view::npos) return std::nullopt;
    const std::size_t begin = at + start.size();
    const std::size_t end = to_last_quote ? line.rfind('"') : line.find('"', begin);
    if (end == std::string_view::npos || end < begin) return std::nullopt;
    return line.substr(begin, end - begin);
}

// A title is "symbol", or "file:symbol" where the linker may see other functions of this name: internal linkage,
// inline.
std::string symbol_of(std::string_view title) {
    std::string_view symbol = title.substr(title.rfind(':') + 1);           // all of it where there is no colon
    if (!symbol.empty() && symbol.front() == '*') symbol.remove_prefix(1);  // a name given by an asm label
    return std::string(symbol);
}

// The label's last line is "N bytes (static)", "(dynamic,bounded)" where arguments are pushed, or "(dynamic)". A
// function that is only called has no such line.
std::optional<CompiledFunction> function_of(const std::string& name, std::string_view label) {
    const std::size_t newline = label.rfind("\\n");
    if (newline == std::string_view::npos) return std::nullopt;
    const std::string last(label.substr(newline + 2));
    const std::size_t unit = last.find(" bytes (");
    if (unit == std::string::npos) return std::nullopt;
    char* end = nullptr;
    const unsigned long long frame = std::strtoull(last.c_str(), &end, 10);
    if (end != last.c_str() + unit) return std::nullopt;
    const std::string kind = last.substr(unit);
    const bool bounded = kind == " bytes (static)" || kind == " bytes (dynamic,bounded)";
    return CompiledFunction{name, static_cast<std::size_t>(frame), !bounded};
}

}  // namespace

CallgraphInfo read_callgraph_info(const std::string& path) {
    std::ifstream file(path);
    const char* const hint = ": cannot be read; was it compiled by GCC with -fcallgraph-info=su, without a cache?";
    if (!file) throw Failure(path + hint);
    CallgraphInfo info;
    std::string line;
    bool is_graph = false;
    bool ended = false;
    while (std::getline(file, line)) {
        const std::string_view text = line;
        if (text.rfind("graph:", 0) == 0) {
            is_graph = true;
        } else if (text.rfind("node:", 0) == 0) {
            const auto title = attribute(text, "title");
            const auto label = attribute(text, "label", true);
            if (!title || !label) throw Failure(path + ": not a node: " + line);
            if (const auto function = function_of(symbol_of(*title), *label)) info.functions.push_back(*function);
        } else if (text.rfind("edge:", 0) == 0) {
            const auto caller = attribute(text, "sourcename");
            const auto callee = attribute(text, "targetname");
            if (!caller || !callee) throw Failure(path + ": not an edge: " + line);
            info.calls.push_back({symbol_of(*caller), symbol_of(*callee)});
        } else if (text == "}") {
            ended = true;
        } else if (!text.empty()) {
            throw Failure(path + ": not understood: " + line);
        }
    }
    if (!is_graph || !ended) throw Failure(path + ": not a complete call graph");
    return info;
}

}  // namespace etch::stack
