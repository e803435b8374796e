// SPDX-License-Identifier: Apache-2.0
// Texts that a model writes. Evaluated against the label column: how many are the same.
#include "../answers.hpp"
#include "../dataset.hpp"
#include "../format.hpp"
#include "../json.hpp"
#include "../label_measures.hpp"
#include "../output.hpp"
#include "../score_tables.hpp"
#include "../table_run.hpp"
#include "../task_face.hpp"
#include "../task_parts.hpp"
#include "../utf8.hpp"

namespace etch::cli {
namespace {

constexpr const char* kOutput = R"(
                       what the model writes
  --json               {"text", "score", "reason", "tokens", "truncated"}; "score" is the sum of log-probabilities,
                       of a search divided by length ^ penalty; "reason" says why no more was written: the model's
                       end, or the length that it may have
)";

constexpr const char* kEvaluation = R"(
--evaluate FILE.csv|FILE.tsv|FILE.jsonl
  exact match of what is written with the label column, over the rows of FILE. csv has RFC 4180 quotes, tsv has none,
  jsonl has an object a line, of strings and numbers. FILE has at most 256 MiB and 1,000 columns.
  --label-column C     number from 1, or name (default 1)
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

std::string as_text(const Options&, const Text&, const Answer& answer) {
    std::string out;
    append_printable(out, answer.written);
    return out + '\n';
}

void append_fields(std::string& out, const Options&, const Text&, const Answer& answer) {
    append_key(out, "text");
    append_json(out, answer.written);
    append_key(out, "score");
    append_json(out, answer.score);
    append_key(out, "reason");
    append_json(out, std::string_view(reason_of(answer.ended)));
}

std::string described() {
    return format(", up to %u are written", static_cast<unsigned>(kModel.width));
}

void evaluate_texts(const Options& options) {
    const Dataset dataset = read_dataset(options);
    std::uint64_t same = 0;
    std::string summary;
    {
        TableRun run(dataset);
        for (std::size_t row = 0; row < dataset.examples.size(); ++row) {
            same += run.answer(row, false).written == dataset.values[row] ? 1U : 0U;
            run.done(row);
        }
        summary = run.summary();
    }
    write_output(percent_line("exact match", ratio(same, dataset.examples.size())));
    write_output(summary);
}

}  // namespace

extern const TaskFace kWriteFace;
const TaskFace kWriteFace = {
    "writes texts", {&kTableOptions}, accept_all,
    nullptr,        kOutput,          {kEvaluation, kTextColumnsHelp, kHeaderHelp},
    described,      kTextCut,         as_text,
    append_fields,  evaluate_texts,   RowTexts::joined,
};

}  // namespace etch::cli
