// SPDX-License-Identifier: Apache-2.0
// Times, and how a benchmark ends that cannot go on.
#pragma once

#include <cuda_runtime_api.h>

#include <chrono>
#include <vector>

#include "etch/status.hpp"

namespace etch::bench {

// Prints why and ends the program with code 1.
[[noreturn]] void fail(const char* what, const char* why);
void check(const char* what, Status status);
void check(const char* what, cudaError_t error);

struct Times {
    double median;  // microseconds
    double p95;
};

Times times_of(std::vector<double> microseconds);

// How often a measurement is repeated.
struct Effort {
    unsigned warm_up;
    unsigned runs;
};

// On the clock of the CPU.
template <class Call>
Times measure(const Effort& effort, Call call) {
    using Clock = std::chrono::steady_clock;
    std::vector<double> times;
    for (unsigned i = 0; i < effort.warm_up + effort.runs; ++i) {
        const Clock::time_point begin = Clock::now();
        call();
        const std::chrono::duration<double, std::micro> spent = Clock::now() - begin;
        if (i >= effort.warm_up) times.push_back(spent.count());
    }
    return times_of(std::move(times));
}

// A point in a stream.
class Event {
  public:
    Event() { check("cudaEventCreate", cudaEventCreate(&event_)); }
    ~Event() { cudaEventDestroy(event_); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;

    void record(cudaStream_t stream) { check("cudaEventRecord", cudaEventRecord(event_, stream)); }

    double microseconds_since(const Event& earlier) const {
        float milliseconds = 0;
        check("cudaEventElapsedTime", cudaEventElapsedTime(&milliseconds, earlier.event_, event_));
        return 1e3 * static_cast<double>(milliseconds);
    }

  private:
    cudaEvent_t event_ = nullptr;
};

}  // namespace etch::bench
