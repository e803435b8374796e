// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace etch::bench {

// What a figure depends on besides the code.
struct Machine {
    std::string cpu;      // as the operating system calls it
    unsigned family = 0;  // with model, tells Zen 3 from Zen 4 where the name does not; 0: unknown
    unsigned model = 0;
    unsigned processors = 0;  // that this process may run on
    std::string compiler;
};

Machine this_machine();

// The smallest cache of data that holds so many bytes, "L1" to "L3", as the operating system tells their sizes;
// "memory" where none does; empty where it does not tell.
std::string cache_of(std::size_t bytes);

}  // namespace etch::bench
