// SPDX-License-Identifier: Apache-2.0
// bench-NAME: latency against length and threads, a turn at the workspace, the tokenizer, time per op.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "benchmarks.hpp"
#include "etch/hosted/thread_pool.hpp"
#include "model_calls.hpp"
#include "model_ops.hpp"

namespace etch::bench {
namespace {

std::vector<std::uint32_t> lengths(const Options& options) {
    std::vector<std::uint32_t> wanted = {8, 16, 32, 44, 64, 128, 221, 256, 384, 512};
    if (options.quick) wanted = {8, 44};
    std::vector<std::uint32_t> possible;
    for (const std::uint32_t length : wanted) {
        if (length <= kModelCalls.max_tokens) possible.push_back(length);
    }
    return possible;
}

// Of one inference: one thread, two, and all that this process may use.
std::set<std::uint32_t> thread_counts() {
    const std::uint32_t all = std::min(hosted::available_threads(), hosted::ThreadPool::kMostThreads);
    return {1, std::min(2u, all), all};
}

void measure_latency(benchmark::State& state, std::uint32_t tokens, std::uint32_t threads) {
    if (!kModelCalls.share(threads)) return state.SkipWithError("the system refuses the threads");
    const std::vector<std::int32_t> ids(tokens, static_cast<std::int32_t>(kModelCalls.vocabulary / 2));
    for (auto _ : state) {
        if (!kModelCalls.run(ids.data(), tokens)) return state.SkipWithError("the model refused its input");
    }
    state.counters["us/token"] =
        benchmark::Counter(tokens * 1e-6, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void measure_tokenizer(benchmark::State& state, const std::vector<std::string>& texts) {
    std::size_t bytes = 0;
    for (const std::string& text : texts)
        bytes += text.size();
    for (auto _ : state) {
        for (const std::string& text : texts)
            benchmark::DoNotOptimize(kModelCalls.encode(text));
    }
    state.counters["MB/s"] =
        benchmark::Counter(static_cast<double>(bytes) * 1e-6, benchmark::Counter::kIsIterationInvariantRate);
    state.counters["us/text"] =
        benchmark::Counter(static_cast<double>(texts.size()) * 1e-6,
                           benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void measure_turn(benchmark::State& state) {
    for (auto _ : state) {
        if (!kModelCalls.take_turn()) return state.SkipWithError("somebody has the workspace");
        benchmark::ClobberMemory();
    }
}

}  // namespace

bool register_benchmarks(const Options& options) {
    if (!options.kernel.empty() && !kModelCalls.select_kernel(options.kernel)) {
        std::fprintf(stderr, "no kernel set '%s' that this CPU can run\n", options.kernel.c_str());
        return false;
    }
    const std::string place = std::string(kModelCalls.name) + "/" + std::string(kModelCalls.kernel());
    for (const std::uint32_t threads : thread_counts()) {
        for (const std::uint32_t tokens : lengths(options)) {
            std::string name = "latency/" + place + "/tokens=" + std::to_string(tokens);
            if (threads > 1) name += "/threads=" + std::to_string(threads);
            repeated(benchmark::RegisterBenchmark(
                         name.c_str(),
                         [tokens, threads](benchmark::State& state) { measure_latency(state, tokens, threads); }),
                     options)
                ->UseRealTime();
        }
    }
    repeated(benchmark::RegisterBenchmark(("turn/" + std::string(kModelCalls.name)).c_str(), measure_turn), options);
    if (options.texts.empty()) return true;
    const auto texts = std::make_shared<std::vector<std::string>>();
    std::ifstream file(options.texts);
    for (std::string line; std::getline(file, line);)
        texts->push_back(line);
    if (texts->empty()) {
        std::fprintf(stderr, "%s: cannot be read, or is empty\n", options.texts.c_str());
        return false;
    }
    repeated(benchmark::RegisterBenchmark(("tokenizer/" + std::string(kModelCalls.name)).c_str(),
                                          [texts](benchmark::State& state) { measure_tokenizer(state, *texts); }),
             options)
        ->UseRealTime();
    return true;
}

void run_further(const Options& options, Table& table) {
    const std::uint32_t most = kModelCalls.max_tokens;
    for (const std::uint32_t threads : {1u, 2u}) {
        if (threads > 1 && (options.quick || hosted::available_threads() < threads)) break;
        report_ops(std::min(most, 44u), threads, options, table);
        if (most >= 221 && !options.quick) report_ops(221, threads, options, table);
    }
}

}  // namespace etch::bench
