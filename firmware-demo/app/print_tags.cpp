// SPDX-License-Identifier: Apache-2.0
// The line that a text gets back from a model that tags: how many entities, then of each its name, per cent and bytes.
// Its bytes, not its text: a build in steps may have taken the next line by then.
#include "answer.hpp"
#include "print.hpp"

namespace firmware {
namespace {

etch::TagSpan spans[model::kMaxTokens];

void print_span(const etch::TagSpan& span, bool shows_bits) {
    print("\t");
    print(model::kEntities[span.label]);
    print("\t");
    print(PerCent{span.score});
    print("\t");
    print(std::uint64_t{span.begin});
    print("-");
    print(std::uint64_t{span.end});
    if (shows_bits) {
        print("\t");
        print(Bits{span.score});
    }
}

}  // namespace

void prepare(model::Result& result) {
    result = {};
    result.spans = spans;
    result.capacity = model::kMaxTokens;
    result.aggregation = etch::Aggregation::simple;
}

void print_answer(Session& session, etch::Status status, const model::Result& result) {
    if (status != etch::Status::ok) {
        print_line("error not-tagged: ", etch::describe(status));
        return;
    }
    print(std::uint64_t{result.count});
    print(" entities\t");
    print(std::uint64_t{result.tokens});
    print(" tokens\t");
    print(result.truncated ? "truncated" : "whole");
    for (std::uint32_t i = 0; i < result.count; ++i)
        print_span(spans[i], session.shows_bits);
    print("\n");
}

}  // namespace firmware
