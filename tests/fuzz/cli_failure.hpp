// SPDX-License-Identifier: Apache-2.0
// What cli::fail() throws under a target.
#pragma once

#include <string>

namespace etch::fuzz {

struct Failure {
    int exit_code;
    std::string message;
};

}  // namespace etch::fuzz
