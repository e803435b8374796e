// SPDX-License-Identifier: Apache-2.0
#include "answers.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "json.hpp"
#include "output.hpp"
#include "utf8.hpp"

namespace etch::cli {

namespace {

constexpr float kPresent = 0.5F;  // probability from which on a label of several counts as given

void append_key(std::string& out, const char* name) {
    out += out.empty() ? "{\"" : ", \"";
    out += name;
    out += "\": ";
}

void append_floats(std::string& out, const char* name, const float* values) {
    append_key(out, name);
    append_json_array(out, kModel.width, [&](std::uint32_t i) { append_json(out, values[i]); });
}

void append_best_label(std::string& out, const Answer& answer) {
    append_key(out, "label");
    append_json(out, label(answer.label));
    append_key(out, "probability");
    append_json(out, answer.values[answer.label]);
}

void append_present_labels(std::string& out, const Answer& answer) {
    append_key(out, "labels");
    const std::vector<std::uint32_t> present = present_labels(answer);
    append_json_array(out, static_cast<std::uint32_t>(present.size()),
                      [&](std::uint32_t i) { append_json(out, label(present[i])); });
}

std::string labels_as_text(const Answer& answer, std::uint32_t top) {
    std::vector<std::uint32_t> order(kModel.width);
    std::iota(order.begin(), order.end(), 0U);
    const std::uint32_t shown = std::min(top, kModel.width);
    std::partial_sort(order.begin(), order.begin() + shown, order.end(), [&](std::uint32_t a, std::uint32_t b) {
        // By logits: two probabilities may round to the same float.
        return answer.logits[a] != answer.logits[b] ? answer.logits[a] > answer.logits[b] : a < b;
    });
    std::string out;
    for (std::uint32_t i = 0; i < shown; ++i) {
        out += i == 0 ? "" : "\t";
        append_printable(out, label(order[i]));
        out += format("\t%.4f", static_cast<double>(answer.values[order[i]]));
    }
    return out + '\n';
}

std::string values_as_text(const Answer& answer) {
    std::string out;
    for (std::uint32_t i = 0; i < kModel.width; ++i) {
        out += format(i == 0 ? "%.9g" : " %.9g", static_cast<double>(answer.values[i]));
    }
    return out + '\n';
}

std::string_view name_of(const Options& options, const TagSpan& span) {
    return label(options.wanted.aggregation == Aggregation::none ? span.label : kModel.width + span.label);
}

// Of a tag or an answer.
template <class Span>
std::string_view text_of(const Span& span, std::string_view text) {
    return text.substr(span.begin, span.end - span.begin);
}

template <class Span>
void append_place(std::string& out, const Span& span) {
    out += format(", \"start\": %u, \"end\": %u", static_cast<unsigned>(span.begin), static_cast<unsigned>(span.end));
}

void append_spans(std::string& out, const Options& options, std::string_view text, const Answer& answer) {
    append_key(out, "entities");
    append_json_array(out, answer.span_count, [&](std::uint32_t i) {
        const TagSpan& span = answer.spans[i];
        out += "{\"label\": ";
        append_json(out, name_of(options, span));
        out += ", \"score\": ";
        append_json(out, span.score);
        append_place(out, span);
        out += ", \"text\": ";
        append_json(out, text_of(span, text));
        out += '}';
    });
}

void append_candidates(std::string& out, const Options& options, const Answer& answer) {
    append_key(out, "masks");
    append_json_array(out, answer.mask_count, [&](std::uint32_t mask) {
        const Candidate* const row = answer.candidates + std::size_t{mask} * kModel.width;
        append_json_array(out, std::min(options.top, kModel.width), [&](std::uint32_t i) {
            out += "{\"token\": ";
            append_json(out, piece(row[i].id));
            out += ", \"id\": ";
            append_json(out, std::int64_t{row[i].id});
            out += ", \"probability\": ";
            append_json(out, row[i].probability);
            out += '}';
        });
    });
}

void append_rows(std::string& out, const char* name, const Answer& answer) {
    append_key(out, name);
    append_json_array(out, answer.tokens, [&](std::uint32_t token) {
        const float* row = answer.values + std::size_t{token} * kModel.width;
        append_json_array(out, kModel.width, [&](std::uint32_t i) { append_json(out, row[i]); });
    });
}

std::string spans_as_text(const Options& options, std::string_view text, const Answer& answer) {
    std::string out;
    for (std::uint32_t i = 0; i < answer.span_count; ++i) {
        const TagSpan& span = answer.spans[i];
        out += i == 0 ? "" : "\t";
        append_printable(out, name_of(options, span));
        out += '\t';
        append_printable(out, text_of(span, text));
        out += format("\t%.4f\t%u\t%u", static_cast<double>(span.score), static_cast<unsigned>(span.begin),
                      static_cast<unsigned>(span.end));
    }
    return out + '\n';
}

// A line a mask; an empty one where the text has none.
std::string candidates_as_text(const Options& options, const Answer& answer) {
    std::string out;
    for (std::uint32_t mask = 0; mask < answer.mask_count; ++mask) {
        const Candidate* const row = answer.candidates + std::size_t{mask} * kModel.width;
        out += mask == 0 ? "" : "\n";
        for (std::uint32_t i = 0; i < std::min(options.top, kModel.width); ++i) {
            out += i == 0 ? "" : "\t";
            append_printable(out, piece(row[i].id));
            out += format("\t%.4f", static_cast<double>(row[i].probability));
        }
    }
    return out + '\n';
}

void append_answers(std::string& out, std::string_view context, const Answer& answer) {
    append_key(out, "answers");
    append_json_array(out, answer.answer_count, [&](std::uint32_t i) {
        const AnswerSpan& span = answer.answers[i];
        out += "{\"text\": ";
        append_json(out, text_of(span, context));
        out += ", \"score\": ";
        append_json(out, span.score);
        append_place(out, span);
        out += '}';
    });
    append_key(out, "windows");
    append_json(out, std::int64_t{answer.windows});
}

std::string spans_as_text(std::string_view context, const Answer& answer) {
    std::string out;
    for (std::uint32_t i = 0; i < answer.answer_count; ++i) {
        const AnswerSpan& span = answer.answers[i];
        out += i == 0 ? "" : "\t";
        append_printable(out, text_of(span, context));
        out += format("\t%.4f\t%u\t%u", static_cast<double>(span.score), static_cast<unsigned>(span.begin),
                      static_cast<unsigned>(span.end));
    }
    return out + '\n';
}

}  // namespace

std::vector<std::uint32_t> present_labels(const Answer& answer) {
    std::vector<std::uint32_t> present;
    for (std::uint32_t i = 0; i < kModel.width; ++i) {
        if (answer.values[i] >= kPresent) {
            present.push_back(i);
        }
    }
    return present;
}

std::string answer_as_json(const Options& options, std::string_view text, const Answer& answer) {
    std::string out;
    switch (kModel.task) {
        case Task::single_label:
            append_best_label(out, answer);
            append_floats(out, "logits", answer.logits);
            break;
        case Task::multi_label:
            append_best_label(out, answer);
            append_present_labels(out, answer);
            append_floats(out, "probabilities", answer.values);
            append_floats(out, "logits", answer.logits);
            break;
        case Task::regression:
            append_floats(out, "values", answer.values);
            break;
        case Task::embedding:
            append_floats(out, "embedding", answer.values);
            break;
        case Task::tagging:
            append_spans(out, options, text, answer);
            if (options.probabilities) {
                append_rows(out, "probabilities", answer);
            }
            break;
        case Task::fill_mask:
            append_candidates(out, options, answer);
            break;
        case Task::answering:
            append_answers(out, text, answer);
            if (options.logits) {
                append_rows(out, "logits", answer);
            }
            break;
    }
    append_key(out, "tokens");
    append_json(out, std::int64_t{answer.tokens});
    append_key(out, "truncated");
    append_json(out, answer.truncated);
    return out + "}\n";
}

std::string answer_as_text(const Options& options, std::string_view text, const Answer& answer) {
    if (kModel.task == Task::tagging) {
        return spans_as_text(options, text, answer);
    }
    if (kModel.task == Task::fill_mask) {
        return candidates_as_text(options, answer);
    }
    if (kModel.task == Task::answering) {
        return spans_as_text(text, answer);
    }
    return answer.logits != nullptr ? labels_as_text(answer, options.top) : values_as_text(answer);
}

std::string tokens_as_json(const Tokens& tokens) {
    std::string out = "{\"ids\": ";
    append_json_array(out, tokens.count, [&](std::uint32_t i) { append_json(out, std::int64_t{tokens.ids[i]}); });
    out += ", \"pieces\": ";
    append_json_array(out, tokens.count, [&](std::uint32_t i) { append_json(out, piece(tokens.ids[i])); });
    out += ", \"offsets\": ";
    append_json_array(out, tokens.count, [&](std::uint32_t i) {
        out += format("[%u, %u]", static_cast<unsigned>(tokens.offsets[i].begin),
                      static_cast<unsigned>(tokens.offsets[i].end));
    });
    out += ", \"truncated\": ";
    append_json(out, tokens.truncated);
    out += "}\n";
    return out;
}

}  // namespace etch::cli
