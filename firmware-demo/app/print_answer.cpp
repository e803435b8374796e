// SPDX-License-Identifier: Apache-2.0
// The line that a text gets back from a classifier.
#include "answer.hpp"
#include "parts.hpp"

namespace firmware {

void prepare(const Session&, model::Result&) {}

void print_answer(Session& session, etch::Status status, const model::Result& result) {
    if (status != etch::Status::ok) {
        print_line("error not-classified: ", etch::describe(status));
        return;
    }
    print(model::kLabels[result.label]);
    print("\t");
    print(PerCent{result.probability[result.label]});
    print("\t");
    print_tokens(result.tokens, result.truncated);
    if (session.shows_bits) print_bits(result.logits, model::kLabelCount);
    print("\n");
}

}  // namespace firmware
