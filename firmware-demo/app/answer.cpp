// SPDX-License-Identifier: Apache-2.0
// The lines that use the model. A product keeps these and sends the label where it is needed.
#include <cstring>

#include "board.hpp"
#include "print.hpp"
#include "session.hpp"

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

void answer(Session& session, std::string_view text) {
    model::Result result;
    board::restart_clock();
    const etch::Status status = model::classify(session.workspace, text, result);
    session.last_ticks = board::ticks();
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
