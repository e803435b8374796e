// SPDX-License-Identifier: Apache-2.0
// The lines that use a model that says whether a text follows another, and the line that two texts get back. In steps.
#include "answer.hpp"
#include "board.hpp"
#include "fields.hpp"
#include "parts.hpp"

namespace firmware {

void answer(Session& session, std::string_view line) {
    const std::size_t tab = field_end(line);
    if (tab == line.size()) return print_line("error no-second-text: a line is FIRST, a TAB and SECOND");
    board::restart_clock();
    begun(session, model::begin(session.workspace, line.substr(0, tab), behind(line, tab)));
}

void prepare(const Session&, model::Result&) {}

void print_answer(Session& session, etch::Status status, const model::Result& result) {
    if (status != etch::Status::ok) {
        print_line("error not-judged: ", etch::describe(status));
        return;
    }
    print("follows\t");
    print(PerCent{result.probability});
    print("\t");
    print_tokens(result.tokens, result.truncated);
    if (session.shows_bits) print_bits(result.logits, model::kLogitCount);
    print("\n");
}

}  // namespace firmware
