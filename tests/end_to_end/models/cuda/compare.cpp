// SPDX-License-Identifier: Apache-2.0
// compare TEXTS PAIRS: what a model's code for GPUs, over the stand-ins, makes of the lines of two files, beside its
// CPU code. In exact mode every bit must be the same; of fast mode it prints the largest difference, and the largest
// output.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include ETCH_MODEL_HEADER
#include ETCH_MODEL_CUDA_HEADER
#include "etch/cuda/model.hpp"
#include "stand_in/faults.hpp"
#include "stand_in/memory.hpp"

namespace {

namespace model = etch::ETCH_MODEL;
namespace gpu = model::cuda;
using etch::Status;

constexpr std::uint32_t kSessionRows = model::kMaxTokens + 50;

model::Workspace workspace;

struct Compared {
    std::size_t results = 0;
    std::size_t different = 0;
    float difference = 0.0f;
    float largest = 0.0f;

    void add(const model::Result& device, const model::Result& cpu) {
        ++results;
        const float* const ours = ETCH_OUTPUTS(device);
        const float* const theirs = ETCH_OUTPUTS(cpu);
        constexpr std::size_t kCount = sizeof(ETCH_OUTPUTS(cpu)) / sizeof(float);
        const bool same = std::memcmp(ours, theirs, kCount * sizeof(float)) == 0;
        if (!same || device.tokens != cpu.tokens || device.truncated != cpu.truncated) ++different;
        for (std::size_t i = 0; i < kCount; ++i) {
            const float apart = std::fabs(ours[i] - theirs[i]);
            if (!(apart <= difference)) difference = apart;  // also where it is NaN
            largest = std::max(largest, std::fabs(theirs[i]));
        }
    }
};

void must(Status status, const char* what) {
    if (status == Status::ok) return;
    std::fprintf(stderr, "%s: %s\n", what, etch::describe(status));
    std::exit(1);
}

std::vector<std::string> lines_of(const char* path) {
    std::vector<std::string> lines;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);)
        lines.push_back(line);
    return lines;
}

void compare(gpu::Mode mode, const std::vector<std::string>& texts, const std::vector<std::string>& pairs) {
    gpu::Weights weights;
    gpu::Session session;
    must(gpu::open(weights, 0, mode), "weights");
    must(gpu::open(session, weights, kSessionRows), "session");
    Compared compared;
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    std::vector<model::Result> batch(views.size());
    must(gpu::ETCH_TASK(_batch)(session, views.data(), views.size(), batch.data()), "batch");
    for (std::size_t i = 0; i < views.size(); ++i) {
        model::Result device, cpu;
        must(model::ETCH_TASK()(workspace, views[i], cpu), "the CPU");
        must(gpu::ETCH_TASK()(session, views[i], device), "a text");
        compared.add(device, cpu);
        compared.add(batch[i], cpu);
    }
    for (const std::string& pair : pairs) {
        const std::size_t tab = pair.find('\t');
        const std::string_view first(pair.data(), tab), second(pair.data() + tab + 1, pair.size() - tab - 1);
        model::Result device, cpu;
        must(model::ETCH_TASK(_pair)(workspace, first, second, cpu), "the CPU");
        must(gpu::ETCH_TASK(_pair)(session, first, second, device), "a pair");
        compared.add(device, cpu);
    }
    const char* const name = mode == gpu::Mode::exact ? "exact" : "fast";
    std::printf("%s %zu %zu %.9g %.9g\n", name, compared.results, compared.different, compared.difference,
                compared.largest);
}

}  // namespace

int main(int, char** arguments) {
    const std::vector<std::string> texts = lines_of(arguments[1]);
    const std::vector<std::string> pairs = lines_of(arguments[2]);
    if (gpu::kExact) compare(gpu::Mode::exact, texts, pairs);
    compare(gpu::Mode::fast, texts, pairs);
    std::printf("left %llu %d\n", static_cast<unsigned long long>(etch_stand_in::alive().objects()),
                etch_stand_in::overruns());
    return 0;
}
