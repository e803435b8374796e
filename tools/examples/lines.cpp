// SPDX-License-Identifier: Apache-2.0
// A loop over standard input: a text a line, a label a line.
#include <agnews.hpp>
#include <cstdio>
#include <iostream>
#include <string>

static etch::agnews::Workspace workspace;
static etch::agnews::Result result;

int main() {
    workspace.special_tokens = etch::SpecialTokens::plain_text;  // a [SEP] that somebody typed is text
    for (std::string line; std::getline(std::cin, line);) {
        const etch::Status status = etch::agnews::classify(workspace, line, result);
        if (status != etch::Status::ok) {
            std::fprintf(stderr, "%s\n", etch::describe(status));
            return 1;
        }
        std::printf("%s\t%.4f%s\n", etch::agnews::kLabels[result.label].data(), result.probability[result.label],
                    result.truncated ? "\tcut" : "");
    }
    return 0;
}
