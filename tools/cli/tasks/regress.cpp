// SPDX-License-Identifier: Apache-2.0
// Values. Evaluated against those of the label column: Pearson, Spearman, mean squared error.
#include "../answers.hpp"
#include "../failure.hpp"
#include "../output.hpp"
#include "../scores/correlation.hpp"
#include "../scores/score_tables.hpp"
#include "../tables/dataset.hpp"
#include "../tables/table_run.hpp"
#include "../tables/value_list.hpp"
#include "../task_face.hpp"
#include "../task_parts.hpp"
#include "../text/format.hpp"
#include "../text/number.hpp"
#include "../text/utf8.hpp"

namespace etch::cli {
namespace {

constexpr const char* kOutput = R"(
                       the values, a space between
  --json               {"values", "tokens", "truncated"}
)";

constexpr const char* kEvaluation = R"(
--evaluate FILE.csv|FILE.tsv|FILE.jsonl
  Pearson's and Spearman's correlation and mean squared error over the rows of FILE. csv has RFC 4180 quotes, tsv has
  none, jsonl has an object a line, of strings and numbers. FILE has at most 256 MiB and 1,000 columns.
  --json               {"pearson", "spearman", "mean_squared_error", "rows", "mean_tokens", "truncated"}; of several
                       values "values": [{"label", "pearson", "spearman", "mean_squared_error"}]
  --label-column C     number from 1, or name, of the column with the true values (default 1); several are separated
                       by ;
)";

std::string as_text(const Options&, const Text&, const Answer& answer) {
    return values_as_text(answer);
}

std::string described() {
    return listed_names(", values:");
}

// [value][row], as the answers below.
using Columns = std::vector<std::vector<double>>;

Columns read_values(const Dataset& dataset) {
    Columns columns(output_width());
    for (std::size_t row = 0; row < dataset.examples.size(); ++row) {
        const std::vector<std::string_view> parts = split_value_list(dataset.values[row]);
        if (parts.size() != output_width()) {
            refuse_value(dataset, row,
                         format("expected %u value%s, separated by ;, got %s", static_cast<unsigned>(output_width()),
                                output_width() == 1 ? "" : "s", quoted(dataset.values[row]).c_str()));
        }
        for (std::uint32_t i = 0; i < output_width(); ++i) {
            const std::optional<double> value = parse_decimal(parts[i]);
            if (!value) {
                refuse_value(dataset, row, "expected a number, got " + quoted(parts[i]));
            }
            columns[i].push_back(*value);
        }
    }
    return columns;
}

void evaluate_values(const Options& options) {
    const Dataset dataset = read_dataset(options);
    const Columns truths = read_values(dataset);
    Columns answers(output_width());
    TableRun::Totals totals = {};
    {
        TableRun run(dataset);
        for (std::size_t row = 0; row < dataset.examples.size(); ++row) {
            const Answer answer = run.answer(row, options.pair_lines);
            for (std::uint32_t i = 0; i < output_width(); ++i) {
                answers[i].push_back(answer.values[i]);
            }
            run.done(row);
        }
        totals = run.totals();
    }
    ScoreReport report(options.json);
    const auto report_value = [&](std::uint32_t i) {
        report_correlation(report, truths[i], answers[i]);
        report.number("mean squared error", mean_squared_error(truths[i], answers[i]));
    };
    if (output_width() == 1) {
        report_value(0);
    } else {
        report.list("values", output_width(), [&](std::uint32_t i) {
            std::string name;
            append_printable(name, label(i));
            report.text(name + '\n');
            report.field("label", label(i));
            report_value(i);
        });
    }
    totals.add_to(report);
    write_output(report.done());
}

}  // namespace

extern const TaskFace kRegressFace;
const TaskFace kRegressFace = {
    "gives values",  {&kPairOptions, &kTableOptions},
    accept_all,      kPairHelp,
    kOutput,         {kEvaluation, kTextColumnsHelp, kHeaderHelp},
    described,       kTextCut,
    as_text,         append_values,
    evaluate_values, RowTexts::joined,
};

}  // namespace etch::cli
