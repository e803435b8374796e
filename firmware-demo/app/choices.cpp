// SPDX-License-Identifier: Apache-2.0
// The line that a text with choices or labels gets back: the best of them, and the per cent of each. One pass for each:
// always in steps.
#include "choices.hpp"

#include <cstring>

#include "answer.hpp"
#include "board.hpp"
#include "fields.hpp"
#include "line_reader.hpp"
#include "parts.hpp"
#include "timing.hpp"

namespace firmware {
namespace {

constexpr std::uint32_t kMostChoices = 64;

// The reader may take the next line before this one is answered.
char asked[LineReader::kLineBytes];
std::string_view choices[kMostChoices];
float scores[kMostChoices];
std::uint32_t count;

void print_choice(const Session& session, etch::Status status, const model::Choice& choice) {
    if (status != etch::Status::ok) {
        print_line("error not-chosen: ", etch::describe(status));
        return;
    }
    print(Escaped{choices[choice.best]});
    print("\t");
    print(PerCent{scores[choice.best]});
    print("\t");
    print_tokens(choice.tokens, choice.truncated);
    for (std::uint32_t i = 0; i < count; ++i) {
        print("\t");
        print(PerCent{scores[i]});
    }
    if (session.shows_bits) print_bits(scores, count);
    print("\n");
}

}  // namespace

void answer(Session& session, std::string_view line) {
    std::memcpy(asked, line.data(), line.size());
    std::string_view rest(asked, line.size());
    const std::string_view text = rest.substr(0, field_end(rest));
    rest.remove_prefix(text.size());
    for (count = 0; !rest.empty(); ++count) {  // it begins with a TAB
        if (count == kMostChoices) return print_line("error too-many-choices: more than ", std::uint64_t{kMostChoices});
        rest.remove_prefix(1);
        choices[count] = rest.substr(0, field_end(rest));
        rest.remove_prefix(choices[count].size());
    }
    if (count == 0) return print_line("error no-choices: a line is a text, and a TAB before each of its choices");
    board::restart_clock();
    const etch::Status status = begin_choices(session, {text, choices, count, scores});
    count_begin(session, status);
    if (!session.computing) print_choice(session, status, {});
}

void go_on(Session& session) {
    model::Choice choice{};
    const std::uint64_t before = board::ticks();
    const etch::Status status = step_choices(session, choice);
    count_step(session, before, status);
    if (!session.computing) print_choice(session, status, choice);
}

}  // namespace firmware
