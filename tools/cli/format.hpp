// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace etch::cli {

// printf into a string.
std::string format(const char* format, ...) __attribute__((format(printf, 1, 2)));

}  // namespace etch::cli
