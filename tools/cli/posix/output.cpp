// SPDX-License-Identifier: Apache-2.0
#include "../output.hpp"

#include <csignal>

namespace etch::cli {

void prepare_output() {
    std::signal(SIGPIPE, SIG_IGN);
}

}  // namespace etch::cli
