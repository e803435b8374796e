// SPDX-License-Identifier: Apache-2.0
// What the tests of a model's calls begin with: the model that the macros name, its workspaces in C++ and C, and CHECK,
// which ends the program with the line that does not hold.
#include ETCH_MODEL_HEADER
#include ETCH_MODEL_C_HEADER

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

#include "kernel_list.hpp"

namespace model = etch::ETCH_MODEL;

#define CHECK(condition)                                             \
    if (!(condition)) {                                              \
        std::fprintf(stderr, "line %d: " #condition "\n", __LINE__); \
        return 1;                                                    \
    }

static model::Workspace workspace;
static ETCH_C(workspace) c_workspace;

// Whether there are such kernels, which both workspaces take from now on. Of `list` the program prints those that this
// CPU can run, and ends.
inline bool take_kernels(const char* name) {
    list_kernels_if_asked(name);
    return model::select_kernel(workspace, name) == etch::Status::ok &&
           ETCH_C(select_kernel)(&c_workspace, name, std::strlen(name)) == ETCH_OK;
}

// As if another call were under way, for as long as it is there.
struct InUse {
    InUse() { workspace.in_use = 1; }
    ~InUse() { workspace.in_use = 0; }
};

// Three workers, one after the other.
inline void run_in_turn(void*, void (*work)(void*, std::uint32_t), void* argument) noexcept {
    for (std::uint32_t worker = 0; worker < 3; ++worker)
        work(argument, worker);
}

// Those of standard input.
inline std::vector<std::string> read_lines() {
    std::vector<std::string> lines;
    for (std::string line; std::getline(std::cin, line);)
        lines.push_back(line);
    return lines;
}
