// SPDX-License-Identifier: Apache-2.0
#include "../output.hpp"

#include <fcntl.h>
#include <io.h>
#include <windows.h>

#include <cstdio>

namespace etch::cli {

void prepare_output() {
    for (std::FILE* const stream : {stdin, stdout, stderr}) {
        _setmode(_fileno(stream), _O_BINARY);
    }
    SetConsoleCP(CP_UTF8);
    SetConsoleOutputCP(CP_UTF8);
}

}  // namespace etch::cli
