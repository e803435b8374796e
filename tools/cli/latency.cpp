// SPDX-License-Identifier: Apache-2.0
// --latency: time of one inference from token ids, for texts of several lengths.
#include <algorithm>
#include <vector>

#include "commands.hpp"
#include "device.hpp"
#include "etch/hosted.hpp"
#include "failure.hpp"
#include "format.hpp"
#include "model.hpp"
#include "output.hpp"
#include "sample_text.hpp"
#include "threads.hpp"

namespace etch::cli {
namespace {

constexpr std::uint32_t kLengths[] = {8, 16, 32, 44, 64, 128, 221, 256, 512};
constexpr std::uint64_t kBudget = 400'000'000;  // ns per length, once kFewestRuns are made
constexpr std::size_t kFewestRuns = 5;
constexpr std::size_t kMostRuns = 1000;

// The lengths that the model takes, its maximum last.
std::vector<std::uint32_t> lengths() {
    std::vector<std::uint32_t> out;
    for (const std::uint32_t length : kLengths) {
        if (length < kModel.max_tokens) {
            out.push_back(length);
        }
    }
    out.push_back(kModel.max_tokens);
    return out;
}

std::uint64_t time_once(const std::vector<std::int32_t>& ids) {
    Answer answer = {};
    const std::uint64_t begin = hosted::monotonic_nanoseconds();
    const Status status = answer_tokens(ids.data(), static_cast<std::uint32_t>(ids.size()), answer);
    const std::uint64_t end = hosted::monotonic_nanoseconds();
    if (status != Status::ok) {
        fail(kRunFailure, "%zu tokens: %s", ids.size(), describe(status));
    }
    return end - begin;
}

// Sorted times of one length, after a run that is not counted.
std::vector<std::uint64_t> measure(const std::vector<std::int32_t>& ids) {
    std::vector<std::uint64_t> times;
    std::uint64_t spent = time_once(ids);
    while (times.size() < kFewestRuns || (spent < kBudget && times.size() < kMostRuns)) {
        times.push_back(time_once(ids));
        spent += times.back();
    }
    std::sort(times.begin(), times.end());
    return times;
}

double milliseconds(std::uint64_t nanoseconds) {
    return static_cast<double>(nanoseconds) / 1e6;
}

double median(const std::vector<std::uint64_t>& sorted) {
    const std::size_t half = sorted.size() / 2;
    return sorted.size() % 2 == 1 ? milliseconds(sorted[half])
                                  : (milliseconds(sorted[half - 1]) + milliseconds(sorted[half])) / 2;
}

// Nearest rank: the smallest time that at least 95 % of the runs did not exceed.
double percentile95(const std::vector<std::uint64_t>& sorted) {
    return milliseconds(sorted[(sorted.size() * 95 + 99) / 100 - 1]);
}

}  // namespace

void measure_latency() {
    const std::string where = device_in_use().empty()
                                  ? format("kernel: %s, threads: %u", std::string(kernel()).c_str(), threads())
                                  : "device: " + device_in_use();
    write_output(format("model: %s, recipe: %s, %s\n", std::string(kModel.name).c_str(),
                        std::string(kModel.recipe).c_str(), where.c_str()));
    write_output("tokens    runs   median ms      p95 ms\n");
    for (const std::uint32_t length : lengths()) {
        const std::vector<std::uint64_t> times = measure(sample_ids(length));
        write_output(format("%6u %7zu %11.3f %11.3f\n", static_cast<unsigned>(length), times.size(), median(times),
                            percentile95(times)));
        flush_output();
    }
}

}  // namespace etch::cli
