// SPDX-License-Identifier: Apache-2.0
// What the call graph alone does not say, from the object itself (x86-64, AArch64 or ARM): which functions a pointer
// can lead to, which symbols are other names of a function, and which functions align the stack themselves.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace etch::stack {

struct ObjectFile {
    bool has_code = false;
    std::set<std::string> local_functions;
    std::set<std::string> defined;                  // functions and data that other objects see
    std::vector<std::vector<std::string>> aliases;  // names of one and the same function, where it has several

    // Functions of which something but a call holds the address: a table, or code that loads it. A call through a
    // pointer can reach these and no others. Names of this object or of others.
    std::set<std::string> address_taken;

    // Caller and callee of the calls and jumps that leave a section: the call graph has none of those that assembly
    // writes, here they are.
    std::set<std::pair<std::string, std::string>> calls;

    // What the vector table of a Cortex-M names, in its order: the function that reset enters, then those that
    // interrupts enter. No pointer of the program leads there.
    std::vector<std::string> vectors;

    // Bytes that a function may lose where it aligns the stack beyond 16 bytes: GCC's figure leaves them out.
    std::map<std::string, std::size_t> alignment_loss;

    // What a function may use below the stack pointer without it being part of its frame (x86-64: 128 bytes).
    std::size_t red_zone = 0;
};

// Throws Failure where the file is missing or not of this format.
ObjectFile read_object_file(const std::string& path);

}  // namespace etch::stack
