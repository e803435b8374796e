// SPDX-License-Identifier: Apache-2.0
// The line that a text gets back from a model that tags: how many entities, then of each its name, per cent and bytes.
// Its bytes, not its text: a build in steps may have taken the next line by then.
#include "answer.hpp"
#include "parts.hpp"

namespace firmware {
namespace {

etch::TagSpan spans[model::kMaxTokens];

}  // namespace

void prepare(const Session& session, model::Result& result) {
    result = {};
    result.spans = spans;
    result.capacity = model::kMaxTokens;
    result.aggregation = session.aggregation;
}

void print_answer(Session& session, etch::Status status, const model::Result& result) {
    if (status != etch::Status::ok) {
        print_line("error not-tagged: ", etch::describe(status));
        return;
    }
    print(std::uint64_t{result.count});
    print(" entities\t");
    print_tokens(result.tokens, result.truncated);
    for (std::uint32_t i = 0; i < result.count; ++i)
        print_span(session.aggregation == etch::Aggregation::none ? model::kLabels[spans[i].label]
                                                                  : model::kEntities[spans[i].label],
                   spans[i], session.shows_bits);
    print("\n");
}

}  // namespace firmware
