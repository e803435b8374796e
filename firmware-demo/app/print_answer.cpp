// SPDX-License-Identifier: Apache-2.0
// The line that a text gets back.
#include <cstring>

#include "answer.hpp"
#include "print.hpp"

namespace firmware {
namespace {

void print_logits(const model::Result& result) {
    print("\t");
    for (const float logit : result.logits) {
        std::uint32_t bits;
        std::memcpy(&bits, &logit, sizeof bits);
        print(" ");
        print(Hex{bits});
    }
}

}  // namespace

void print_answer(const Session& session, etch::Status status, const model::Result& result) {
    if (status != etch::Status::ok) {
        print_line("error not-classified: ", etch::describe(status));
        return;
    }
    print(model::kLabels[result.label]);
    print("\t");
    print(PerCent{result.probability[result.label]});
    print("\t");
    print(std::uint64_t{result.tokens});
    print(" tokens\t");
    print(result.truncated ? "truncated" : "whole");
    if (session.shows_logits) print_logits(result);
    print("\n");
}

}  // namespace firmware
