// SPDX-License-Identifier: Apache-2.0
#include <agnews_cuda.hpp>
#include <cstdio>

namespace gpu = etch::agnews::cuda;

int main(int argc, char** argv) {
    gpu::Weights weights;  // shared by the sessions of a GPU; both must end before main() does
    gpu::Session session;
    const char* text = argc > 1 ? argv[1] : "Oil prices climb after the summit";
    etch::agnews::Result result;
    etch::Status status = gpu::open(weights, 0, gpu::Mode::exact);
    if (status == etch::Status::ok) status = gpu::open(session, weights);
    if (status == etch::Status::ok) status = gpu::classify(session, text, result);
    if (status != etch::Status::ok) {
        std::fprintf(stderr, "%s\n", etch::describe(status));
        return 1;
    }
    std::printf("%s %.9g\n", etch::agnews::kLabels[result.label].data(), result.probability[result.label]);
}
