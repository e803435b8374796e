// SPDX-License-Identifier: Apache-2.0
// Two models in one program: the small one answers, and where it is not sure the large one is asked.
#include <agnews.hpp>
#include <agnews_small.hpp>
#include <cstdio>
#include <iostream>
#include <string>

static etch::agnews_small::Workspace small;
static etch::agnews::Workspace large;

int main() {
    constexpr float kSure = 0.9f;
    etch::agnews_small::Result quick;
    etch::agnews::Result result;
    for (std::string line; std::getline(std::cin, line);) {
        if (etch::agnews_small::classify(small, line, quick) != etch::Status::ok) return 1;
        if (quick.probability[quick.label] >= kSure) {
            std::printf("small\t%s\n", etch::agnews_small::kLabels[quick.label].data());
            continue;
        }
        if (etch::agnews::classify(large, line, result) != etch::Status::ok) return 1;
        std::printf("large\t%s\n", etch::agnews::kLabels[result.label].data());
    }
}
