// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

namespace etch::stack {

// The stack cannot be bounded, or an input cannot be read. main() prints it and fails the build.
class Failure : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

}  // namespace etch::stack
