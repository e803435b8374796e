// SPDX-License-Identifier: Apache-2.0
// The calls of a whole model, runtime included, and the deepest stack that a function can reach through them.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "callgraph_info.hpp"
#include "object_file.hpp"

namespace etch::stack {

// A function of the C library that GCC calls by itself: memcpy, memmove, memset, memcmp. They keep to registers; the
// bytes are an allowance for a return address and a few saved registers.
inline constexpr std::size_t kLibraryFrame = 64;

// The same for what a CPU without the instruction calls instead: __aeabi_fadd, __aeabi_uldivmod, __ctzdi2 of libgcc. On
// ARMv7-M the deepest of them pushes 48 bytes, on ARMv6-M 84.
inline constexpr std::size_t kArithmeticFrame = 96;

// What a Cortex-M pushes before it enters a handler: registers, those of the FPU, and 4 bytes to align.
inline constexpr std::size_t kInterruptFrame = 108;

struct Step {
    std::string symbol;
    std::size_t bytes;
};

struct Deepest {
    std::size_t bytes = 0;   // the path and the red zone below its end
    std::vector<Step> path;  // from the function down
};

class CallGraph {
  public:
    // `object` and the call graph that was written beside it (X.o, X.ci); an object without code needs none. Of a
    // public object the functions with external linkage are what deepest() will be asked for.
    void add(const std::string& object_path, bool is_public);

    // A symbol that is in no object and no function.
    void add_data(const std::string& symbol) { defined_.insert(symbol); }

    // Symbols of the public functions.
    const std::set<std::string>& public_functions() const { return public_functions_; }

    // Throws Failure where no bound exists or is known: recursion, a dynamic frame, a callee that is in no object.
    Deepest deepest(const std::string& function) const;

    // Where reset begins, empty without a vector table; and what each handler of it may add on top of all else. Two
    // interrupts that share a handler are taken not to interrupt each other.
    std::string reset() const { return vectors_.empty() ? std::string() : vectors_.front(); }
    std::vector<Deepest> interrupts() const;

    std::size_t red_zone() const { return red_zone_; }
    // What a call through a pointer can reach. In a public object that is the caller's executor, which calls back the
    // tasks that public objects hand to it, on stacks that begin there or deeper in the caller's own frames; in another
    // object it is a kernel.
    std::set<std::string> pointer_targets(bool in_public_object) const;

  private:
    struct Function {
        std::size_t frame = 0;
        bool unbounded = false;
        bool in_public_object = false;
        std::set<std::string> callees;
    };
    struct Visit;

    const std::string& resolve(const std::string& key) const;
    std::set<std::string> callees_of(const Function& function) const;
    Deepest visit(const std::string& key, Visit& visited) const;

    // Keys: the symbol of a function that other objects see, "N:symbol" for internal linkage in the N-th object.
    std::map<std::string, Function> functions_;
    std::map<std::string, std::string> aliases_;  // to the name that functions_ has
    std::set<std::string> address_taken_[2];      // in other objects, in public ones
    std::set<std::string> defined_;
    std::set<std::string> public_functions_;
    std::vector<std::string> vectors_;
    std::size_t red_zone_ = 0;
    std::size_t objects_ = 0;
};

}  // namespace etch::stack
