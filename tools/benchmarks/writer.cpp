// SPDX-License-Identifier: Apache-2.0
// bench-NAME of a generative model: a step of its decoder, and how fast its products read their weights.
#include <algorithm>
#include <cstdio>
#include <regex>
#include <string>
#include <vector>

#include "benchmarks.hpp"
#include "median.hpp"
#include "writer_calls.hpp"

namespace etch::bench {
namespace {

constexpr std::uint32_t kStepsOfATurn = 16;

struct TimedSteps {
    std::vector<double> nanoseconds;
    std::vector<double> in_products;
    std::vector<Bytes> weights;  // of the last step; all read the same
};

void take(void* context, const Step& step) {
    TimedSteps& turn = *static_cast<TimedSteps*>(context);
    turn.nanoseconds.push_back(static_cast<double>(step.nanoseconds));
    turn.in_products.push_back(static_cast<double>(step.in_products));
    turn.weights = step.weights;
}

}  // namespace

bool register_benchmarks(const Options& options) {
    if (options.kernel.empty() || kWriterCalls.select_kernel(options.kernel)) return true;
    std::fprintf(stderr, "no kernel set '%s' that this CPU can run\n", options.kernel.c_str());
    return false;
}

// Steps and reading alone in turns, each turn's steps beside the reading right after them: both see the same machine.
void run_further(const Options& options, Table& table) {
    const std::string place = std::string(kWriterCalls.name) + "/" + std::string(kWriterCalls.kernel());
    const std::string products = "step/" + place + "/products", all = "step/" + place + "/all";
    const std::regex filter(options.filter);
    if (!std::regex_search(products, filter) && !std::regex_search(all, filter)) return;
    std::vector<double> times, whole, bandwidths, shares;
    double bytes = 0;
    for (unsigned i = 0; i < (options.quick ? 3u : 31u); ++i) {
        TimedSteps turn;
        if (!kWriterCalls.write(std::min(kWriterCalls.max_target, kStepsOfATurn), take, &turn)) {
            std::fprintf(stderr, "%s: the model refused its input\n", place.c_str());
            return;
        }
        bytes = 0;
        for (const Bytes& part : turn.weights)
            bytes += static_cast<double>(part.count);
        times.push_back(median(turn.in_products));
        whole.push_back(median(turn.nanoseconds));
        bandwidths.push_back(measured_bandwidth(turn.weights.data(), turn.weights.size()));
        if (bandwidths.back() > 0) shares.push_back(100 * bytes / times.back() / bandwidths.back());
    }
    table.title("a step of the decoder, " + place);
    const double time = median(times);
    Row row{products, time, {{"MB", bytes / 1e6}, {"GB/s", bytes / time}}};
    if (!shares.empty()) {
        row.figures.emplace_back("% of bandwidth", median(shares));
        row.figures.emplace_back("GB/s read alone", median(bandwidths));
    }
    table.row(row);
    table.row({all, median(whole), {{"% in products", 100 * time / median(whole)}}});
}

}  // namespace etch::bench
