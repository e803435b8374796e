// SPDX-License-Identifier: Apache-2.0
// What the tests of a model's calls begin with: the model that the macros name, its workspaces in C++ and C, and CHECK,
// which ends the program with the line that does not hold.
#include ETCH_MODEL_HEADER
#include ETCH_MODEL_C_HEADER

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

namespace model = etch::ETCH_MODEL;

#define CHECK(condition)                                             \
    if (!(condition)) {                                              \
        std::fprintf(stderr, "line %d: " #condition "\n", __LINE__); \
        return 1;                                                    \
    }

static model::Workspace workspace;
static ETCH_C(workspace) c_workspace;
