// SPDX-License-Identifier: Apache-2.0
// One label of a text, or any number of them. Evaluated: accuracy, precision, recall, F1 and confusion matrix; exact
// match, micro and macro F1, precision, recall and F1 of each label.
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "../answers.hpp"
#include "../failure.hpp"
#include "../label_evaluation.hpp"
#include "../output.hpp"
#include "../scores/label_set_scores.hpp"
#include "../scores/score_tables.hpp"
#include "../tables/dataset.hpp"
#include "../tables/label_sets.hpp"
#include "../tables/label_values.hpp"
#include "../tables/table_run.hpp"
#include "../task_face.hpp"
#include "../task_parts.hpp"
#include "../text/format.hpp"
#include "../text/json.hpp"
#include "../text/utf8.hpp"

namespace etch::cli {
namespace {

constexpr const char* kOutput = R"(
                       label TAB probability, best first, the next labels behind it
  --top K              so many labels (default 5)
  --json               {"label", "probability", "logits", "tokens", "truncated"}
)";

constexpr const char* kSetOutput = R"(
                       label TAB probability, best first, the next labels behind it
  --top K              so many labels (default 5)
  --json               {"label", "probability", "labels", "probabilities", "logits", "tokens", "truncated"}; "label" is
                       the best one, "labels" are those with a probability of 0.5 or more
)";

constexpr const char* kEvaluation = R"(
--evaluate FILE.csv|FILE.tsv|FILE.jsonl
  accuracy, precision, recall, F1 and confusion matrix over the rows of FILE. csv has RFC 4180 quotes, tsv has none,
  jsonl has an object a line, of strings and numbers.
  FILE has at most 256 MiB and 1,000 columns.
  --json               {"accuracy", "rows", "mean_tokens", "truncated", "per_label": [{"label", "precision", "recall",
                       "f1", "rows"}], "counts"}; counts[true label][answer], the others from 0 to 1
  --confusion          accuracy and the confusion matrix alone, counts and per cent of the true label in one; with
                       --json {"accuracy", "rows", "labels", "counts", "per_cent"}
  --label-column C     number from 1, or name (default 1)
)";

constexpr const char* kSetEvaluation = R"(
--evaluate FILE.csv|FILE.tsv|FILE.jsonl
  exact match, micro and macro F1, precision and recall over the rows of FILE; a row is given the labels with a
  probability of 0.5 or more. csv has RFC 4180 quotes, tsv has none,
  jsonl has an object a line, of strings and numbers.
  FILE has at most 256 MiB and 1,000 columns.
  --json               {"exact_match", "micro_f1", "macro_f1", "rows", "mean_tokens", "truncated", "per_label":
                       [{"label", "precision", "recall", "f1", "rows"}]}, from 0 to 1
  --label-column C     number from 1, or name (default 1). Labels of a row are separated by ; and may be none.
                       Where the model has one label, also 0 and 1: without it, with it.
)";

const Option kOptions[] = {
    {"--labels", 1, kRows, kNone, [](Options& o, Values v) { o.label_values = v[0]; }},
};
// Of one label a text.
const Option kMatrixOption[] = {
    {"--confusion", 0, kRows, kNone, [](Options& o, Values) { o.confusion = true; }},
};

}  // namespace

const OptionGroup kLabelOptions(kOptions);
const OptionGroup kMatrixOptions(kMatrixOption);

namespace {

// label TAB probability of the most probable labels, best first.
std::string as_text(const Options& options, const Text&, const Answer& answer) {
    std::vector<std::uint32_t> order(width_of(answer));
    std::iota(order.begin(), order.end(), 0U);
    const std::uint32_t shown = std::min(options.top.value_or(kTop), width_of(answer));
    std::partial_sort(order.begin(), order.begin() + shown, order.end(), [&](std::uint32_t a, std::uint32_t b) {
        // By logits: two probabilities may round to the same float.
        return answer.logits[a] != answer.logits[b] ? answer.logits[a] > answer.logits[b] : a < b;
    });
    std::string out;
    for (std::uint32_t i = 0; i < shown; ++i) {
        out += i == 0 ? "" : "\t";
        append_printable(out, name_in(answer, order[i]));
        out += format("\t%.4f", static_cast<double>(answer.values[order[i]]));
    }
    return out + '\n';
}

void check(const Options& options) {
    if (options.top && options.json) {
        refuse_together("--top", "--json");
    }
}

std::string described() {
    return listed_names(", labels:");
}

std::vector<std::uint32_t> read_labels(const Options& options, const Dataset& dataset) {
    const LabelValues values(options.label_values, {dataset.values.begin(), dataset.values.end()});
    std::vector<std::uint32_t> labels;
    for (std::size_t row = 0; row < dataset.examples.size(); ++row) {
        const std::optional<std::uint32_t> label = values.find(dataset.values[row]);
        if (!label) {
            refuse_value(
                dataset, row,
                "unknown label " + quoted(dataset.values[row]) + "; labels are read as " + values.description());
        }
        labels.push_back(*label);
    }
    std::fprintf(stderr, "%s: labels read as %s\n", std::string(kModel.program).c_str(), values.description().c_str());
    return labels;
}

}  // namespace

void evaluate_labels(const Options& options) {
    const Dataset dataset = read_dataset(options);
    const std::vector<std::uint32_t> truths = read_labels(options, dataset);
    const bool pairs = texts_of_rows(options) == RowTexts::two;
    ConfusionMatrix confusion(output_width());
    TableRun::Totals totals = {};
    {
        TableRun run(dataset);
        for (std::size_t row = 0; row < dataset.examples.size(); ++row) {
            confusion.add(truths[row], run.answer(row, pairs).label);
            run.done(row);
        }
        totals = run.totals();
    }
    if (options.json && options.confusion) {
        write_output(confusion_json(confusion));
        return;
    }
    ScoreReport report(options.json);
    report.share("accuracy", confusion.accuracy());
    totals.add_to(report);
    if (options.confusion) {
        report.text(confusion_matrix(confusion));
        write_output(report.done());
        return;
    }
    std::vector<LabelMeasures> measures;
    for (std::uint32_t label = 0; label < output_width(); ++label) {
        measures.push_back(confusion.measures(label));
    }
    report_labels(report, measures, confusion.rows());
    report_confusion(report, confusion);
    write_output(report.done());
}

namespace {

std::vector<std::vector<std::uint32_t>> read_label_sets(const Options& options, const Dataset& dataset) {
    const LabelSets reading(options.label_values, dataset.values);
    std::vector<std::vector<std::uint32_t>> sets;
    for (std::size_t row = 0; row < dataset.examples.size(); ++row) {
        std::string_view unknown;
        std::optional<std::vector<std::uint32_t>> labels = reading.find(dataset.values[row], unknown);
        if (!labels) {
            refuse_value(dataset, row,
                         "unknown label " + quoted(unknown) + "; labels are read as " + reading.description());
        }
        sets.push_back(std::move(*labels));
    }
    std::fprintf(stderr, "%s: labels read as %s\n", std::string(kModel.program).c_str(), reading.description().c_str());
    return sets;
}

void evaluate_label_sets(const Options& options) {
    const Dataset dataset = read_dataset(options);
    const std::vector<std::vector<std::uint32_t>> truths = read_label_sets(options, dataset);
    LabelSetScores scores(output_width());
    TableRun::Totals totals = {};
    {
        TableRun run(dataset);
        for (std::size_t row = 0; row < dataset.examples.size(); ++row) {
            scores.add(truths[row], present_labels(run.answer(row, options.pair_lines)));
            run.done(row);
        }
        totals = run.totals();
    }
    std::vector<LabelMeasures> measures;
    for (std::uint32_t label = 0; label < output_width(); ++label) {
        measures.push_back(scores.measures(label));
    }
    ScoreReport report(options.json);
    report.share("exact match", scores.exact_match());
    report.share("micro F1", scores.micro_f1());
    report.share("macro F1", scores.macro_f1());
    totals.add_to(report);
    report_labels(report, measures, scores.rows());
    write_output(report.done());
}

}  // namespace

extern const TaskFace kLabelFace;
const TaskFace kLabelFace = {
    "classifies texts",
    {&kPairOptions, &kTopOptions, &kTableOptions, &kLabelOptions, &kMatrixOptions},
    check,
    kPairHelp,
    kOutput,
    {kEvaluation, kTextColumnsHelp, kLabelNamesHelp, kHeaderHelp},
    described,
    kTextCut,
    as_text,
    append_label,
    evaluate_labels,
    RowTexts::joined,
};

extern const TaskFace kLabelSetFace;
const TaskFace kLabelSetFace = {
    "classifies texts",
    {&kPairOptions, &kTopOptions, &kTableOptions, &kLabelOptions},
    check,
    kPairHelp,
    kSetOutput,
    {kSetEvaluation, kTextColumnsHelp, kLabelNamesHelp, kHeaderHelp},
    described,
    kTextCut,
    as_text,
    append_label_set,
    evaluate_label_sets,
    RowTexts::joined,
};

}  // namespace etch::cli
