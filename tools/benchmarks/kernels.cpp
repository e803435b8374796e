// SPDX-License-Identifier: Apache-2.0
// bench-kernels.
#include "kernels.hpp"

#include <cstdio>
#include <string>
#include <utility>

#include "benchmarks.hpp"
#include "limits.hpp"
#include "operands.hpp"

namespace etch::bench {

bool register_benchmarks(const Options& options) {
    const auto sets = usable_sets(options.kernel);
    if (sets.empty()) std::fprintf(stderr, "no kernel set '%s' that this CPU can run\n", options.kernel.c_str());
    for (const KernelSet* set : sets)
        register_matmul(*set, options);
    for (const KernelSet* set : sets)
        register_rows(*set, options);
    for (const KernelSet* set : sets)
        register_attention(*set, options);
    return !sets.empty();
}

void run_further(const Options& options, Table& table) {
    constexpr std::pair<Operands, const char*> kNames[] = {{Operands::s8, "s8"},
                                                           {Operands::s8_single, "s8, where only two products fit"},
                                                           {Operands::s8_signed, "s8, where signs are needed"},
                                                           {Operands::f32, "f32"},
                                                           {Operands::s16, "s8, widened beforehand (no kernel does)"},
                                                           {Operands::s7, "s8, weights of 7 bits"}};
    table.title("limits: these operations again and again, for every product of a lane and its sum");
    for (const KernelSet* set : usable_sets(options.kernel)) {
        for (const auto& [operands, name] : kNames) {
            const std::string_view counted = counted_operations(set->name, operands);
            if (counted.empty()) continue;
            char text[128];
            std::snprintf(text, sizeof text, "%7.4g GMAC/s  %.*s", measured_limit(set->name, operands),
                          static_cast<int>(counted.size()), counted.data());
            table.note(std::string(set->name) + " " + name, text);
        }
    }
}

}  // namespace etch::bench
