// SPDX-License-Identifier: Apache-2.0
#include "../failure.hpp"
#include "../model.hpp"
#include "../output.hpp"
#include "commands.hpp"

namespace etch::cli {

void run_self_test() {
    const Status status = self_test();
    if (status != Status::ok) {
        fail(kRunFailure, "self test failed: %s", describe(status));
    }
    write_output("ok\n");
}

}  // namespace etch::cli
