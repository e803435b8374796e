// SPDX-License-Identifier: Apache-2.0
#include "output.hpp"

#include <cerrno>
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

}  // namespace etch::cli
