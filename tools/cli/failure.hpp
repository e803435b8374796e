// SPDX-License-Identifier: Apache-2.0
// How the program ends when it cannot go on: one line on stderr and an exit code.
#pragma once

#include <string>
#include <string_view>

#include "text/printf_format.hpp"

namespace etch::cli {

inline constexpr int kRunFailure = 1;  // the input, the output or the self test failed
inline constexpr int kWrongUse = 2;    // the command line cannot be obeyed

// Writes what is pending on stdout, then the program's name and the message as exactly one line on stderr, and exits.
[[noreturn]] void fail(int exit_code, const char* format, ...) __attribute__((format(ETCH_PRINTF_FORMAT, 2, 3)));

// `text` between single quotes for a message: printable, on one line, shortened when long.
std::string quoted(std::string_view text);

}  // namespace etch::cli
