// SPDX-License-Identifier: Apache-2.0
// Which of the labels that a user gives hold of a text. Evaluated: how often the best one is that of the label column.
#include <algorithm>
#include <string>
#include <vector>

#include "../answers.hpp"
#include "../failure.hpp"
#include "../output.hpp"
#include "../scores/label_measures.hpp"
#include "../scores/score_report.hpp"
#include "../tables/dataset.hpp"
#include "../tables/table_run.hpp"
#include "../task_face.hpp"
#include "../task_parts.hpp"
#include "../text/format.hpp"
#include "../text/utf8.hpp"

namespace etch::cli {
namespace {

constexpr const char* kInput = R"(
  --labels A,B,…       the labels that a text may have, without the spaces around them
  --label A            one of them, with commas and all; may be repeated
  --template T         the hypothesis of a label, which stands for {} (default: This example is {}.)
  --multi-label        each label by itself; else one of them holds
  --pair A B           with --logits: the text A and the hypothesis B; may be repeated
  --pairs              the same of lines A<TAB>B
)";

constexpr const char* kOutput = R"(
                       label TAB score, best first, the next labels behind it
  --top K              so many labels (default 5)
  --json               {"labels", "scores", "tokens", "truncated"}, best first; tokens are those of all hypotheses with
                       the text
  --logits             with --json, without labels: {"probability", "logits", "tokens", "truncated"} of the classifier
)";

constexpr const char* kEvaluation = R"(
--evaluate FILE.csv|FILE.tsv|FILE.jsonl
  accuracy over the rows of FILE. csv has RFC 4180 quotes, tsv has none, jsonl has an object a line, of strings and
  numbers. FILE has at most 256 MiB and 1,000 columns.
  --json               {"accuracy", "rows", "mean_tokens", "truncated"}, accuracy from 0 to 1
  --label-column C     number from 1, or name (default 1): the right label, one of those given (default: the values of
                       all rows are the labels)
)";

void add_label(Options& options, std::string_view label) {
    const std::size_t first = label.find_first_not_of(" \t");
    if (first != std::string_view::npos) {
        options.wanted.labels.push_back(label.substr(first, label.find_last_not_of(" \t") - first + 1));
    }
}

void add_labels(Options& options, std::string_view list) {
    while (true) {
        const std::size_t comma = list.find(',');
        add_label(options, list.substr(0, comma));
        if (comma == std::string_view::npos) {
            break;
        }
        list.remove_prefix(comma + 1);
    }
    if (options.wanted.labels.empty()) {
        fail(kWrongUse, "--labels: there is no label");
    }
}

void read_template(Options& options, std::string_view hypothesis) {
    const std::size_t place = hypothesis.find("{}");
    if (place == std::string_view::npos || hypothesis.find_first_of("{}", place + 2) != std::string_view::npos ||
        hypothesis.find_first_of("{}") != place) {
        fail(kWrongUse, "--template: expected {} once, for the label, and no other braces, got %s",
             quoted(hypothesis).c_str());
    }
    options.wanted.before = hypothesis.substr(0, place);
    options.wanted.after = hypothesis.substr(place + 2);
}

const Option kOptions[] = {
    {"--labels", 1, kTexts | kRows, kNone, [](Options& o, Values v) { add_labels(o, v[0]); }},
    {"--label", 1, kTexts | kRows, kNone, [](Options& o, Values v) { o.wanted.labels.push_back(v[0]); }, true},
    {"--template", 1, kTexts | kRows, kNone, [](Options& o, Values v) { read_template(o, v[0]); }},
    {"--multi-label", 0, kTexts | kRows, kNone, [](Options& o, Values) { o.wanted.multi_label = true; }},
    {"--logits", 0, kTexts, kNone, [](Options& o, Values) { o.logits = true; }},
};
const OptionGroup kZeroShotOptions(kOptions);

void check(const Options& options) {
    const bool labels = !options.wanted.labels.empty();
    if (options.logits && (labels || !options.json)) {
        fail(kWrongUse, "--logits goes with --json, and not with labels");
    }
    if (options.top && options.json) {
        refuse_together("--top", "--json");
    }
    if (options.mode != Mode::texts || options.tokens || options.logits) {
        return;
    }
    if (options.pair_lines || !options.pairs.empty()) {
        fail(kWrongUse, "pairs are a text and a hypothesis: they go with --json --logits");
    }
    if (!labels) {
        fail(kWrongUse, "which labels? --labels A,B,… or --label A, as often as wanted");
    }
}

std::string as_text(const Options& options, const Text&, const Answer& answer) {
    const std::vector<std::uint32_t> order = best_first(answer.values, answer.choice_count);
    std::string out;
    for (std::uint32_t i = 0; i < std::min(options.top.value_or(kTop), answer.choice_count); ++i) {
        out += i == 0 ? "" : "\t";
        append_printable(out, options.wanted.labels[order[i]]);
        out += format("\t%.4f", static_cast<double>(answer.values[order[i]]));
    }
    return out + '\n';
}

std::string described() {
    return {};
}

// Without labels the values of the rows are the labels, sorted by their bytes.
void evaluate_zero_shot(const Options& options) {
    if (options.pair_lines) {
        refuse_together("--evaluate", "--pairs");
    }
    const Dataset dataset = read_dataset(options);
    Wanted wanted = options.wanted;
    std::vector<std::string_view>& labels = wanted.labels;
    const std::size_t rows = dataset.examples.size();
    if (labels.empty()) {
        labels.assign(dataset.values.begin(), dataset.values.begin() + static_cast<std::ptrdiff_t>(rows));
        std::sort(labels.begin(), labels.end());
        labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
    }
    for (std::size_t row = 0; row < rows; ++row) {
        if (std::count(labels.begin(), labels.end(), dataset.values[row]) == 0) {
            refuse_value(dataset, row, "unknown label " + quoted(dataset.values[row]));
        }
    }
    set_wanted(wanted);
    std::uint64_t right = 0;
    TableRun::Totals totals = {};
    {
        TableRun run(dataset);
        for (std::size_t row = 0; row < rows; ++row) {
            right += labels[run.answer(row, false).label] == dataset.values[row] ? 1U : 0U;
            run.done(row);
        }
        totals = run.totals();
    }
    ScoreReport report(options.json);
    report.share("accuracy", ratio(right, rows));
    totals.add_to(report);
    write_output(report.done());
}

}  // namespace

extern const TaskFace kZeroShotFace;
const TaskFace kZeroShotFace = {
    "classifies texts into the labels that it is given",
    {&kPairOptions, &kTopOptions, &kTableOptions, &kZeroShotOptions},
    check,
    kInput,
    kOutput,
    {kEvaluation, kTextColumnsHelp, kHeaderHelp},
    described,
    kTextCut,
    as_text,
    append_zero_shot,
    evaluate_zero_shot,
    RowTexts::joined,
    false,
    nullptr,
    " [OPTION…] --labels A,B,… [TEXT…]",
};

}  // namespace etch::cli
