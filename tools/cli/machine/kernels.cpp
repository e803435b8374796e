// SPDX-License-Identifier: Apache-2.0
#include "kernels.hpp"

#include "../commands/commands.hpp"
#include "../failure.hpp"
#include "../model.hpp"
#include "../output.hpp"
#include "etch/hosted.hpp"

namespace etch::cli {

void choose_kernel(std::optional<std::string_view> name) {
    const bool from_environment = !name;
    const std::string_view wanted = name ? *name : hosted::kernel_from_environment();
    if (from_environment && wanted.empty()) {
        return;
    }
    const Status status = select_kernel(wanted);
    if (status == Status::ok) {
        return;
    }
    std::string usable;
    for (std::size_t i = 0; !usable_kernel(i).empty(); ++i) {
        usable += i == 0 ? "" : ", ";
        usable += usable_kernel(i);
    }
    fail(kWrongUse, "%s: %s %s (usable: %s)", from_environment ? "ETCH_KERNEL" : "--kernel",
         status == Status::kernel_not_usable ? "this CPU cannot run kernel" : "there is no kernel",
         quoted(wanted).c_str(), usable.c_str());
}

void list_kernels() {
    for (std::size_t i = 0; !usable_kernel(i).empty(); ++i) {
        write_output(std::string(usable_kernel(i)) + '\n');
    }
}

}  // namespace etch::cli
