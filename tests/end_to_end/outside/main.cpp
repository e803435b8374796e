// SPDX-License-Identifier: Apache-2.0
#include <agnews.hpp>
#include <cstdio>

static etch::agnews::Workspace workspace;  // kArenaBytes; nothing runs at start-up

int main(int argc, char** argv) {
    const char* text = argc > 1 ? argv[1] : "Oil prices climb after the summit";
    etch::agnews::Result result;
    const etch::Status status = etch::agnews::classify(workspace, text, result);
    if (status != etch::Status::ok) {
        std::fprintf(stderr, "%s\n", etch::describe(status));
        return 1;
    }
    std::printf("%s %.9g\n", etch::agnews::kLabels[result.label].data(), result.probability[result.label]);
}
