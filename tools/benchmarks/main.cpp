// SPDX-License-Identifier: Apache-2.0
#include <ostream>
#include <string>

#include "benchmarks.hpp"
#include "machine.hpp"

namespace etch::bench {

benchmark::internal::Benchmark* repeated(benchmark::internal::Benchmark* benchmark, const Options& options) {
    if (options.quick) return benchmark->MinTime(0.01);
    return benchmark->MinTime(0.05)->Repetitions(5)->ReportAggregatesOnly();
}

}  // namespace etch::bench

// The exit code; what the filter names may be another program's.
static constexpr int kNothingMatches = 3;

int main(int argc, char** argv) {
    using namespace etch::bench;
    const Options options = parse_options(argc, argv);
    if (!register_benchmarks(options)) return 1;
    std::string filter = "--benchmark_filter=" + options.filter;
    std::string list = "--benchmark_list_tests";
    char* arguments[] = {argv[0], filter.data(), list.data(), nullptr};
    int count = options.list ? 3 : 2;
    benchmark::Initialize(&count, arguments);
    if (options.list) {
        benchmark::RunSpecifiedBenchmarks();
        return 0;
    }
    Table table(options.json);
    table.machine(this_machine());
    TableReporter reporter(table);
    std::ostream nowhere(nullptr);
    reporter.SetErrorStream(&nowhere);  // the library does not know of what is run further, and would miss it
    benchmark::RunSpecifiedBenchmarks(&reporter);
    run_further(options, table);
    if (reporter.failed()) return 1;
    return table.rows() == 0 ? kNothingMatches : 0;
}
