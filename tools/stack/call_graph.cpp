// SPDX-License-Identifier: Apache-2.0
#include "call_graph.hpp"

#include <algorithm>

#include "failure.hpp"
#include "names.hpp"

namespace etch::stack {
namespace {

const std::set<std::string> kLibraryFunctions = {"memcmp", "memcpy", "memmove", "memset"};

// GCC's atomics on AArch64 (libgcc's lse.S), which choose the CPU's form: __aarch64_swp1_relax. They keep to registers.
bool is_outlined_atomic(const std::string& symbol) {
    return symbol.rfind("__aarch64_", 0) == 0;
}

// __aeabi_fadd, and what libgcc calls by the modes of its operands: __ctzdi2, __udivsi3.
bool is_arithmetic(const std::string& symbol) {
    static const std::set<std::string> kEndings = {"si2", "di2", "si3", "di3", "sf2", "sf3", "df2", "df3"};
    if (symbol.rfind("__aeabi_", 0) == 0) return true;
    return symbol.size() > 5 && symbol.rfind("__", 0) == 0 && kEndings.count(symbol.substr(symbol.size() - 3)) != 0;
}

// The frame of a function that the compiler's own libraries bring along, 0 where `symbol` is none.
std::size_t library_frame(const std::string& symbol) {
    if (kLibraryFunctions.count(symbol) != 0 || is_outlined_atomic(symbol)) return kLibraryFrame;
    return is_arithmetic(symbol) ? kArithmeticFrame : 0;
}

std::string callgraph_path(const std::string& object_path) {
    const std::size_t dot = object_path.rfind('.');
    return object_path.substr(0, dot) + ".ci";
}

}  // namespace

void CallGraph::add(const std::string& object_path, bool is_public) {
    const ObjectFile object = read_object_file(object_path);
    const std::string prefix = std::to_string(objects_++) + ':';
    const auto key_of = [&](const std::string& symbol) {
        return object.local_functions.count(symbol) != 0 ? prefix + symbol : symbol;
    };
    red_zone_ = std::max(red_zone_, object.red_zone);
    defined_.insert(object.defined.begin(), object.defined.end());
    for (const std::string& symbol : object.address_taken)
        address_taken_[is_public].insert(key_of(symbol));
    for (const std::string& symbol : object.vectors)
        vectors_.push_back(key_of(symbol));
    if (!object.has_code) return;

    const CallgraphInfo info = read_callgraph_info(callgraph_path(object_path));
    for (const CompiledFunction& compiled : info.functions) {
        const std::string key = key_of(compiled.name);
        Function& function = functions_[key];  // an inline function may be in several objects: the largest counts
        const auto loss = object.alignment_loss.find(compiled.name);
        const std::size_t frame = compiled.frame + (loss != object.alignment_loss.end() ? loss->second : 0);
        function.frame = std::max(function.frame, frame);
        function.unbounded = function.unbounded || compiled.unbounded;
        function.in_public_object = function.in_public_object || is_public;
        if (is_public && key == compiled.name) public_functions_.insert(key);
    }
    for (const Call& call : info.calls) {
        functions_[key_of(call.caller)].callees.insert(key_of(call.callee));
    }
    for (const auto& [caller, callee] : object.calls) {
        if (functions_.count(key_of(caller)) != 0) functions_[key_of(caller)].callees.insert(key_of(callee));
    }
    for (const std::vector<std::string>& names : object.aliases) {
        for (const std::string& with_graph : names) {
            if (functions_.count(key_of(with_graph)) == 0) continue;
            for (const std::string& name : names)
                aliases_[key_of(name)] = key_of(with_graph);
        }
    }
}

const std::string& CallGraph::resolve(const std::string& key) const {
    if (functions_.count(key) != 0) return key;
    const auto alias = aliases_.find(key);
    return alias != aliases_.end() ? alias->second : key;
}

std::set<std::string> CallGraph::pointer_targets(bool in_public_object) const {
    std::set<std::string> targets;
    for (const std::string& symbol : address_taken_[in_public_object]) {
        const std::string& key = resolve(symbol);
        if (functions_.count(key) != 0 || library_frame(key) != 0) {
            targets.insert(key);
        } else if (key.find(':') == std::string::npos && defined_.count(key) == 0) {
            throw Failure("a pointer may lead to " + readable(key) + ", which is in none of the objects");
        }
    }
    return targets;
}

std::set<std::string> CallGraph::callees_of(const Function& function) const {
    std::set<std::string> callees;
    for (const std::string& callee : function.callees) {
        if (callee == kIndirectCall) {
            callees.merge(pointer_targets(function.in_public_object));
        } else {
            callees.insert(resolve(callee));
        }
    }
    return callees;
}

struct CallGraph::Visit {
    std::map<std::string, Deepest> done;
    std::vector<std::string> open;  // the path to the function that is being looked at
};

Deepest CallGraph::visit(const std::string& key, Visit& visited) const {
    if (const auto known = visited.done.find(key); known != visited.done.end()) return known->second;
    if (const std::size_t frame = library_frame(key); frame != 0 && functions_.count(key) == 0) {
        return {frame + red_zone_, {{key, frame}}};
    }
    const auto chain = [&](std::size_t from) {
        std::string names;
        for (std::size_t i = from; i < visited.open.size(); ++i)
            names += readable(visited.open[i]) + " > ";
        return names + readable(key);
    };
    const auto cycle = std::find(visited.open.begin(), visited.open.end(), key);
    if (cycle != visited.open.end()) {
        throw Failure("recursion: " + chain(static_cast<std::size_t>(cycle - visited.open.begin())));
    }
    const auto found = functions_.find(key);
    if (found == functions_.end()) throw Failure("a callee is in none of the objects: " + chain(0));
    const Function& function = found->second;
    if (function.unbounded) throw Failure("a stack frame of dynamic size: " + chain(0));

    visited.open.push_back(key);
    Deepest below{red_zone_, {}};
    for (const std::string& callee : callees_of(function)) {
        Deepest candidate = visit(callee, visited);
        if (candidate.bytes > below.bytes) below = std::move(candidate);
    }
    visited.open.pop_back();
    below.bytes += function.frame;
    below.path.insert(below.path.begin(), Step{key, function.frame});
    visited.done[key] = below;
    return below;
}

Deepest CallGraph::deepest(const std::string& function) const {
    Visit visited;
    return visit(resolve(function), visited);
}

std::vector<Deepest> CallGraph::interrupts() const {
    std::set<std::string> handlers;
    for (std::size_t i = 1; i < vectors_.size(); ++i)
        handlers.insert(resolve(vectors_[i]));
    std::vector<Deepest> found;
    for (const std::string& handler : handlers) {
        found.push_back(deepest(handler));
        found.back().bytes += kInterruptFrame;
    }
    return found;
}

}  // namespace etch::stack
