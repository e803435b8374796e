// SPDX-License-Identifier: Apache-2.0
// A chat, a message a line, each judged together with the one before it: a pair of texts, for a model with two
// segments.
#include <cstdio>
#include <iostream>
#include <moderation.hpp>
#include <string>

namespace model = etch::moderation;

static_assert(model::kPairs, "the model takes one text only");

static model::Workspace workspace;
static model::Result result;

int main() {
    workspace.special_tokens = etch::SpecialTokens::plain_text;  // nobody ends his message by typing [SEP]
    std::string before;
    for (std::string message; std::getline(std::cin, message); before = message) {
        const etch::Status status = model::classify_pair(workspace, before, message, result);
        if (status != etch::Status::ok) {
            std::fprintf(stderr, "%s\n", etch::describe(status));
            return 1;
        }
        const float share = result.probability[result.label];
        const char* verdict = share < 0.6f ? "ask a person" : model::kLabels[result.label].data();
        std::printf("%s\t%s\n", verdict, message.c_str());
    }
}
