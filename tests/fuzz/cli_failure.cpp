// SPDX-License-Identifier: Apache-2.0
// tools/cli/failure.cpp for the targets: a failure is thrown instead of ending the process.
#include "cli_failure.hpp"

#include <cstdarg>
#include <cstdio>

#include "failure.hpp"
#include "text/utf8.hpp"

namespace etch::cli {

void fail(int exit_code, const char* format, ...) {
    char message[1024];
    std::va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    throw fuzz::Failure{exit_code, message};
}

std::string quoted(std::string_view text) {
    std::string out;
    append_printable(out, text);
    return out;
}

}  // namespace etch::cli
