// SPDX-License-Identifier: Apache-2.0
#include "failure.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "model.hpp"
#include "text/utf8.hpp"

namespace etch::cli {

void fail(int exit_code, const char* format, ...) {
    std::fflush(stdout);
    char message[1024];
    std::va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    std::string line(kModel.program);
    line += ": ";
    append_printable(line, message);
    line += '\n';
    std::fwrite(line.data(), 1, line.size(), stderr);
    std::exit(exit_code);
}

std::string quoted(std::string_view text) {
    constexpr std::size_t kLongest = 100;  // bytes
    std::string out = "'";
    append_printable(out, text.substr(0, kLongest));
    out += text.size() > kLongest ? "...'" : "'";
    return out;
}

}  // namespace etch::cli
