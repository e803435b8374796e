// SPDX-License-Identifier: Apache-2.0
// Texts that a model writes.
#include "../answers.hpp"
#include "../failure.hpp"
#include "../format.hpp"
#include "../json.hpp"
#include "../task_face.hpp"
#include "../task_parts.hpp"
#include "../utf8.hpp"

namespace etch::cli {

void evaluate_writing(const Options& options);  // write_evaluation.cpp

namespace {

constexpr const char* kOutput = R"(
                       what the model writes
  --beams N            fewer beams than the model has; 1 is greedy
  --nbest N            of what the beams found so many, the best first: a line of score TAB text for each
  --json               {"text", "score", "reason", "tokens", "truncated"}, with --nbest also "nbest": [{"text",
                       "score", "reason"}]; "score" is the sum of log-probabilities, of a search divided by length ^
                       penalty; "reason" says why no more was written: the model's end, or the length that it may have
)";

constexpr const char* kEvaluation = R"(
--evaluate FILE.csv|FILE.tsv|FILE.jsonl
  what is written against the label column, over the rows of FILE: exact match, BLEU and chrF, both as sacreBLEU has
  them without options. csv has RFC 4180 quotes, tsv has none, jsonl has an object a line, of strings and numbers.
  FILE has at most 256 MiB and 1,000 columns.
  --label-column C     number from 1, or name (default 1)
  --json               {"rows", "bleu", "chrf", "exact"}; the last is a number of rows
)";

const char* reason_of(Ended ended) {
    switch (ended) {
        case Ended::end:
            return "end";
        case Ended::length:
            return "length";
        case Ended::capacity:
            break;
    }
    return "capacity";
}

std::uint32_t beams_of(const Options& options) {
    return options.wanted.beams == 0 ? kModel.beams : options.wanted.beams;
}

const Option kWriteOption[] = {
    {"--beams", 1, kTexts | kRows | bit(Mode::latency), kNone,
     [](Options& o, Values v) { o.wanted.beams = number("--beams", v[0], 1, kModel.beams); }},
    {"--nbest", 1, kTexts, kNone,
     [](Options& o, Values v) { o.wanted.nbest = number("--nbest", v[0], 1, kModel.beams); }},
    {"--json", 0, kTexts | kRows, kNone, [](Options& o, Values) { o.json = true; }},
};
const OptionGroup kWriteOptions(kWriteOption);

void check(const Options& options) {
    if (options.wanted.nbest > beams_of(options)) {
        fail(kWrongUse, "--nbest: %u beams find no more", static_cast<unsigned>(beams_of(options)));
    }
}

std::string as_text(const Options& options, const Text&, const Answer& answer) {
    std::string out;
    for (std::size_t i = 0; i < answer.written_count; ++i) {
        if (options.wanted.nbest > 1) out += format("%.4f\t", static_cast<double>(answer.written[i].score));
        append_printable(out, answer.written[i].text);
        out += '\n';
    }
    return out;
}

void append_written(std::string& out, const WrittenText& one) {
    append_key(out, "text");
    append_json(out, one.text);
    append_key(out, "score");
    append_json(out, one.score);
    append_key(out, "reason");
    append_json(out, std::string_view(reason_of(one.ended)));
}

void append_fields(std::string& out, const Options& options, const Text&, const Answer& answer) {
    append_written(out, answer.written[0]);
    if (options.wanted.nbest == 1) return;
    append_key(out, "nbest");
    append_json_array(out, static_cast<std::uint32_t>(answer.written_count), [&](std::uint32_t i) {
        std::string one;
        append_written(one, answer.written[i]);
        out += one + '}';
    });
}

std::string described() {
    return format(", up to %u are written", static_cast<unsigned>(kModel.width));
}

}  // namespace

extern const TaskFace kWriteFace;
const TaskFace kWriteFace = {
    "writes texts",
    {&kWriteOptions, &kTableOptions},
    check,
    nullptr,
    kOutput,
    {kEvaluation, kTextColumnsHelp, kHeaderHelp},
    described,
    kTextCut,
    as_text,
    append_fields,
    evaluate_writing,
    RowTexts::joined,
};

}  // namespace etch::cli
