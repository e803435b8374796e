// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "printf_format.hpp"

namespace etch::cli {

// printf into a string.
std::string format(const char* format, ...) __attribute__((format(ETCH_PRINTF_FORMAT, 1, 2)));

}  // namespace etch::cli
