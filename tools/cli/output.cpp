// SPDX-License-Identifier: Apache-2.0
#include "output.hpp"

#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "failure.hpp"

namespace etch::cli {
namespace {

[[noreturn]] void output_failed(int error) {
    if (error == EPIPE) {  // the reader has what it wanted, as `| head -1`
        std::_Exit(kRunFailure);
    }
    fail(kRunFailure, "cannot write the output: %s", std::strerror(error));
}

}  // namespace

void prepare_output() {
    std::signal(SIGPIPE, SIG_IGN);
}

void write_output(std::string_view bytes) {
    errno = 0;
    if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size()) {
        output_failed(errno);
    }
}

void flush_output() {
    errno = 0;
    if (std::fflush(stdout) != 0) {
        output_failed(errno);
    }
}

std::string format(const char* format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    std::va_list again;
    va_copy(again, arguments);
    const int length = std::vsnprintf(nullptr, 0, format, arguments);
    va_end(arguments);
    std::string out(length > 0 ? static_cast<std::size_t>(length) : 0, '\0');
    std::vsnprintf(out.data(), out.size() + 1, format, again);
    va_end(again);
    return out;
}

}  // namespace etch::cli
