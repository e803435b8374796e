// SPDX-License-Identifier: Apache-2.0
// --latency: time of one inference from token ids, for texts of several lengths; of a generative model that of its
// tokens, too.
#include <algorithm>
#include <string>
#include <vector>

#include "../failure.hpp"
#include "../machine/device.hpp"
#include "../machine/threads.hpp"
#include "../model.hpp"
#include "../output.hpp"
#include "../task_face.hpp"
#include "../text/format.hpp"
#include "commands.hpp"
#include "etch/hosted.hpp"
#include "sample_text.hpp"

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

// Times of the calls of one length in ns, each in a list of its own. Of a generative model also until its first tokens
// were there, then for each of the others; where none come later, for each of all.
struct Times {
    std::vector<std::uint64_t> calls;
    std::vector<std::uint64_t> until_first;
    std::vector<std::uint64_t> of_token;
    std::uint32_t written = 0;  // tokens by a call

    void sort() {
        for (std::vector<std::uint64_t>* times : {&calls, &until_first, &of_token}) {
            std::sort(times->begin(), times->end());
        }
    }
};

// Takes a call's times; returns that of the whole.
std::uint64_t time_once(const std::vector<std::int32_t>& ids, Times& times) {
    Answer answer = {};
    const std::uint64_t begin = hosted::monotonic_nanoseconds();
    const Status status = answer_tokens(ids.data(), static_cast<std::uint32_t>(ids.size()), answer);
    const std::uint64_t whole = hosted::monotonic_nanoseconds() - begin;
    if (status != Status::ok) {
        fail(kRunFailure, "%zu tokens: %s", ids.size(), describe(status));
    }
    times.calls.push_back(whole);
    if (kModel.face.writes) {
        const TokenTimes& tokens = answer.token_times;
        const std::uint32_t later = tokens.count - tokens.first_count;
        times.until_first.push_back(tokens.until_first);
        times.of_token.push_back(later != 0 ? (whole - tokens.until_first) / later : whole / tokens.count);
        times.written = tokens.count;
    }
    return whole;
}

// Sorted times of one length, after a run that is not counted.
Times measure(const std::vector<std::int32_t>& ids) {
    Times uncounted;
    Times times;
    std::uint64_t spent = time_once(ids, uncounted);
    while (times.calls.size() < kFewestRuns || (spent < kBudget && times.calls.size() < kMostRuns)) {
        spent += time_once(ids, times);
    }
    times.sort();
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

std::string row(std::uint32_t length, const Times& times) {
    std::string line = format("%6u %7zu %11.3f %11.3f", static_cast<unsigned>(length), times.calls.size(),
                              median(times.calls), percentile95(times.calls));
    if (kModel.face.writes) {
        line += format(" %8u %11.3f %11.4f %11.1f", static_cast<unsigned>(times.written), median(times.until_first),
                       median(times.of_token), 1e3 / median(times.calls));
    }
    return line + '\n';
}

}  // namespace

void measure_latency() {
    const std::string where = device_in_use().empty()
                                  ? format("kernel: %s, threads: %u", std::string(kernel()).c_str(), threads())
                                  : "device: " + device_in_use();
    write_output(format("model: %s, recipe: %s, %s\n", std::string(kModel.name).c_str(),
                        std::string(kModel.recipe).c_str(), where.c_str()));
    write_output("tokens    runs   median ms      p95 ms");
    write_output(kModel.face.writes ? "  written    first ms    ms/token     texts/s\n" : "\n");
    for (const std::uint32_t length : lengths()) {
        write_output(row(length, measure(sample_ids(length))));
        flush_output();
    }
}

}  // namespace etch::cli
