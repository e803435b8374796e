// SPDX-License-Identifier: Apache-2.0
// Every kernel set of this build that reads Packing::rows against scalar, bit
// for bit. Prints a line for each set; the exit code is 0 if all agree.
#include "board.hpp"
#include "values.hpp"

namespace {

int check_all() {
    using namespace etch;
    const KernelSet* scalar = nullptr;
    if (find_kernels(kRowsKernels, "scalar", scalar) != Status::ok) return 2;
    bool right = true;
    for (std::size_t i = 0; !usable_kernel_name(kRowsKernels, i).empty(); ++i) {
        const KernelSet* set = nullptr;
        const std::string_view name = usable_kernel_name(kRowsKernels, i);
        if (find_kernels(kRowsKernels, name, set) != Status::ok) return 2;
        if (set == scalar) continue;
        checks::Report report;
        checks::check_products(*set, *scalar, report);
        checks::check_rows(*set, *scalar, report);
        checks::check_4_bits(*set, *scalar, report);
        checks::check_float_mode(*set, report);
        output::print("set ");
        output::print(name);
        output::print(" checked ");
        output::print(report.checked());
        output::print(" wrong ");
        output::print(report.wrong());
        output::print("\n");
        right = right && report.wrong() == 0;
    }
    return right ? 0 : 1;
}

}  // namespace

int main() {
    board::finish(check_all());
}
