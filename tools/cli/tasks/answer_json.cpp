// SPDX-License-Identifier: Apache-2.0
#include "../answers.hpp"
#include "../text/json.hpp"

namespace etch::cli {

std::string_view context_of(const Text& text) {
    return text.pair ? text.second : text.first;
}

void append_answers(std::string& out, const Options& options, const Text& text, const Answer& answer) {
    append_key(out, "answers");
    // Of a text alone spans are numbers of tokens.
    append_json_array(out, text.pair ? answer.answer_count : 0, [&](std::uint32_t i) {
        const AnswerSpan& span = answer.answers[i];
        const ScoredPlace place = {span.begin, span.end, span.score};
        out += "{\"text\": ";
        append_json(out, place.in(context_of(text)));
        append_place(out, place);
        out += '}';
    });
    append_key(out, "windows");
    append_json(out, std::int64_t{answer.windows});
    if (options.logits && answer.windows == 1) {  // else `tokens` are not those of the last one alone
        append_rows(out, "logits", answer);
    }
}

}  // namespace etch::cli
