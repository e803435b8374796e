// SPDX-License-Identifier: Apache-2.0
#include "../answers.hpp"
#include "../text/json.hpp"

namespace etch::cli {

std::string_view entity_name(const Options& options, const Answer& answer, const TagSpan& span) {
    const std::uint32_t first = options.wanted.aggregation == Aggregation::none ? 0 : width_of(answer);
    return name_in(answer, first + span.label);
}

void append_entities(std::string& out, const Options& options, const Text& text, const Answer& answer) {
    append_key(out, "entities");
    append_json_array(out, answer.span_count, [&](std::uint32_t i) {
        const TagSpan& span = answer.spans[i];
        const ScoredPlace place = {span.begin, span.end, span.score};
        out += "{\"label\": ";
        append_json(out, entity_name(options, answer, span));
        append_place(out, place);
        out += ", \"text\": ";
        append_json(out, place.in(text.first));
        out += '}';
    });
    if (options.probabilities) {
        append_rows(out, "probabilities", answer);
    }
}

}  // namespace etch::cli
