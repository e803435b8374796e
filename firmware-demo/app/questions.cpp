// SPDX-License-Identifier: Apache-2.0
// The lines that use a model that answers questions, and the line that a question gets back: the best answer with its
// per cent and its bytes of the context. A context takes several windows: always in steps.
#include <cstring>

#include "answer.hpp"
#include "board.hpp"
#include "line_reader.hpp"
#include "print.hpp"

namespace firmware {
namespace {

// Both texts stay where they are until they are answered; the reader may take the next line before.
char asked[LineReader::kLineBytes];
std::string_view context;

// Those of 21 windows; of more the best are kept.
etch::AnswerSpan answers[256];

void print_span(const etch::AnswerSpan& answer, bool shows_bits) {
    print("\t");
    print(Escaped{{context.data() + answer.begin, answer.end - answer.begin}});
    print("\t");
    print(PerCent{answer.score});
    print("\t");
    print(std::uint64_t{answer.begin});
    print("-");
    print(std::uint64_t{answer.end});
    if (shows_bits) {
        print("\t");
        print(Bits{answer.score});
    }
}

}  // namespace

void answer(Session& session, std::string_view line) {
    std::size_t tab = 0;
    while (tab < line.size() && line[tab] != '\t')
        ++tab;
    if (tab == line.size()) return print_line("error no-context: a line is QUESTION, a TAB and CONTEXT");
    std::memcpy(asked, line.data(), line.size());
    context = {asked + tab + 1, line.size() - tab - 1};
    board::restart_clock();
    begun(session, model::begin(session.workspace, {asked, tab}, context));
}

void prepare(model::Result& result) {
    result = {};
    result.answers = answers;
    result.capacity = sizeof answers / sizeof *answers;
}

void print_answer(Session& session, etch::Status status, const model::Result& result) {
    if (status != etch::Status::ok) {
        print_line("error not-answered: ", etch::describe(status));
        return;
    }
    print(std::uint64_t{result.windows});
    print(" windows\t");
    print(std::uint64_t{result.tokens});
    print(" tokens\t");
    print(result.truncated ? "truncated" : "whole");
    for (std::uint32_t i = 0; i < result.count; ++i)
        print_span(answers[i], session.shows_bits);
    print("\n");
}

}  // namespace firmware
