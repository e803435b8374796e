// SPDX-License-Identifier: Apache-2.0
// What a benchmark program consists of: main.cpp is common, these are each program's own.
#pragma once

#include <benchmark/benchmark.h>

#include "options.hpp"
#include "table.hpp"

namespace etch::bench {

// Registers the program's benchmarks; false, with a message printed, where the options ask for what it has not.
bool register_benchmarks(const Options& options);

// Runs what is no benchmark of Google's kind after them.
void run_further(const Options& options, Table& table);

// How often each benchmark runs: 5 times 50 ms, of which the median counts, or once 10 ms.
benchmark::internal::Benchmark* repeated(benchmark::internal::Benchmark* benchmark, const Options& options);

}  // namespace etch::bench
