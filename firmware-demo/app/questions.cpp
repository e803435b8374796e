// SPDX-License-Identifier: Apache-2.0
// The lines that use a model that answers questions, and the line that a question gets back: the best answer with its
// per cent and its bytes of the context. A context takes several windows: always in steps.
#include <cstring>

#include "answer.hpp"
#include "board.hpp"
#include "fields.hpp"
#include "line_reader.hpp"
#include "parts.hpp"

namespace firmware {
namespace {

// Both texts stay where they are until they are answered; the reader may take the next line before.
char asked[LineReader::kLineBytes];
std::string_view context;

// Those of 21 windows; of more the best are kept.
etch::AnswerSpan answers[256];

Escaped text_of(const etch::AnswerSpan& answer) {
    return {{context.data() + answer.begin, answer.end - answer.begin}};
}

}  // namespace

void answer(Session& session, std::string_view line) {
    const std::size_t tab = field_end(line);
    if (tab == line.size()) return print_line("error no-context: a line is QUESTION, a TAB and CONTEXT");
    std::memcpy(asked, line.data(), line.size());
    context = {asked + tab + 1, line.size() - tab - 1};
    board::restart_clock();
    begun(session, model::begin(session.workspace, {asked, tab}, context));
}

void prepare(const Session&, model::Result& result) {
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
    print_tokens(result.tokens, result.truncated);
    for (std::uint32_t i = 0; i < result.count; ++i)
        print_span(text_of(answers[i]), answers[i], session.shows_bits);
    print("\n");
}

}  // namespace firmware
