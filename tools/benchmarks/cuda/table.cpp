// SPDX-License-Identifier: Apache-2.0
#include "table.hpp"

#include <cerrno>
#include <cstring>

#include "measure.hpp"

namespace etch::bench {
namespace {

void shape_fields(std::FILE* file, const char* what, const char* mode, const Shape& shape) {
    std::fprintf(file, "{\"what\": \"%s\", \"mode\": \"%s\", \"texts\": %u, \"tokens\": %u", what, mode, shape.texts,
                 shape.tokens);
}

}  // namespace

GpuTable::GpuTable(const std::string& json) {
    if (json.empty()) return;
    json_ = std::fopen(json.c_str(), "w");
    if (json_ == nullptr) fail(json.c_str(), std::strerror(errno));
}

GpuTable::~GpuTable() {
    if (json_ != nullptr) std::fclose(json_);
}

void GpuTable::pass(const char* mode, const Shape& shape, const PassTimes& times) {
    std::printf("%-5s %4u x %3u tokens: median %9.1f us, p95 %9.1f, bound %9.1f; GPU %9.1f, bound %9.1f\n", mode,
                shape.texts, shape.tokens, times.call.median, times.call.p95, times.bound, times.gpu, times.bound_gpu);
    std::fflush(stdout);
    if (json_ == nullptr) return;
    shape_fields(json_, "latency", mode, shape);
    std::fprintf(
        json_,
        ", \"median_us\": %.2f, \"p95_us\": %.2f, \"bound_us\": %.2f, \"gpu_us\": %.2f, \"bound_gpu_us\": %.2f}\n",
        times.call.median, times.call.p95, times.bound, times.gpu, times.bound_gpu);
}

void GpuTable::op(const char* mode, const Shape& shape, const OpTime& time) {
    std::printf("%-5s %4u x %3u tokens: %-20s %4u calls %9.1f us\n", mode, shape.texts, shape.tokens, time.op.c_str(),
                time.calls, time.microseconds);
    if (json_ == nullptr) return;
    shape_fields(json_, "op", mode, shape);
    std::fprintf(json_, ", \"op\": \"%s\", \"calls\": %u, \"us\": %.2f}\n", time.op.c_str(), time.calls,
                 time.microseconds);
}

}  // namespace etch::bench
