// SPDX-License-Identifier: Apache-2.0
// bench-cuda-NAME [--json FILE] [--quick]: latency of single texts and of batches in each mode of the model beside the
// bare products, and the time of each op.
#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>

#include "model.hpp"
#include "table.hpp"

namespace etch::bench {
namespace {

constexpr std::uint32_t kLengths[] = {8, 16, 32, 44, 64, 128, 221, 256, 512};
constexpr Shape kBatches[] = {{16, 44}, {64, 44}, {64, 128}, {256, 44}, {64, 221}};
constexpr std::uint32_t kMostRows = 16384;

struct Options {
    std::string json;
    bool quick = false;  // few shapes, few runs: whether it works
};

Options parse(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string_view name = argv[i];
        if (name == "--quick") {
            options.quick = true;
        } else if (name == "--json" && i + 1 < argc) {
            options.json = argv[++i];
        } else {
            fail("unknown option or missing value", argv[i]);
        }
    }
    return options;
}

std::vector<Shape> shapes(bool quick) {
    if (quick) return {{1, std::min(33u, kModel.max_tokens)}, {3, std::min(20u, kModel.max_tokens)}};
    std::vector<Shape> all;
    for (const std::uint32_t length : kLengths) {
        if (length < kModel.max_tokens) all.push_back({1, length});
    }
    all.push_back({1, kModel.max_tokens});
    for (const Shape& batch : kBatches) {
        if (batch.tokens <= kModel.max_tokens) all.push_back(batch);
    }
    return all;
}

// Those whose ops are listed: the goals' shapes.
bool is_taken_apart(const Shape& shape, bool quick) {
    return quick || (shape.texts == 1 && (shape.tokens == 221 || shape.tokens == kModel.max_tokens)) ||
           (shape.texts == 64 && shape.tokens == 128);
}

void measure_mode(cuda::Mode mode, const Options& options, GpuTable& table) {
    const char* const name = mode == cuda::Mode::exact ? "exact" : "fast";
    const Effort effort = options.quick ? Effort{1, 3} : Effort{20, 200};
    check(name, kModel.open(mode, std::max(kModel.max_tokens, options.quick ? 64u : kMostRows)));
    for (const Shape& shape : shapes(options.quick)) {
        table.pass(name, shape, measure_pass(shape, effort));
        if (!is_taken_apart(shape, options.quick)) continue;
        for (const OpTime& time : measure_ops(shape, options.quick ? effort : Effort{3, 20}))
            table.op(name, shape, time);
    }
}

}  // namespace
}  // namespace etch::bench

int main(int argc, char** argv) {
    using namespace etch;
    const bench::Options options = bench::parse(argc, argv);
    bench::GpuTable table(options.json);
    std::printf("model: %s, recipe: %s\n", std::string(bench::kModel.name).c_str(),
                std::string(bench::kModel.recipe).c_str());
    if (bench::kModel.exact) bench::measure_mode(cuda::Mode::exact, options, table);
    bench::measure_mode(cuda::Mode::fast, options, table);
    return 0;
}
