// SPDX-License-Identifier: Apache-2.0
// Which of several choices goes with a prompt. Evaluated: accuracy.
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
#include "../text/number.hpp"
#include "../text/utf8.hpp"

namespace etch::cli {
namespace {

constexpr const char* kInput = R"(
  --prompt P           the prompt; the texts are its choices
  --pairs              lines are PROMPT<TAB>CHOICE<TAB>CHOICE…; a line alone is a prompt without a choice
)";

constexpr const char* kOutput = R"(
                       choice TAB probability, best first, the next choices behind it
  --top K              so many choices (default 5)
  --json               {"choice", "probabilities", "scores", "tokens", "truncated"}; "choice" is the number of the
                       best one, from 0, tokens are those of all choices with their prompt
)";

constexpr const char* kEvaluation = R"(
--evaluate FILE.csv|FILE.tsv|FILE.jsonl
  accuracy over the rows of FILE. csv has RFC 4180 quotes, tsv has none, jsonl has an object a line, of strings and
  numbers. FILE has at most 256 MiB and 1,000 columns.
  --json               {"accuracy", "rows", "mean_tokens", "truncated"}, accuracy from 0 to 1
  --label-column C     number from 1, or name (default 1): the number of the right choice
  --labels 0|1         of the first choice (default 0)
  --text-columns C,…   numbers or names: the prompt's, then those of the choices (default: all but the label's)
)";

const Option kOptions[] = {
    {"--prompt", 1, kTexts, kNone, [](Options& o, Values v) { o.prompt = v[0]; }},
    {"--pairs", 0, kTexts, kNone, [](Options& o, Values) { o.pair_lines = true; }},
    {"--labels", 1, kRows, kNone,
     [](Options& o, Values v) {
         number("--labels", v[0], 0, 1);
         o.label_values = v[0];
     }},
};
const OptionGroup kChoiceOptions(kOptions);

void check(const Options& options) {
    if (options.top && options.json) {
        refuse_together("--top", "--json");
    }
    if (options.prompt && (options.file || options.pair_lines)) {
        refuse_together("--prompt", options.file ? "--file" : "--pairs");
    }
    if (options.prompt.has_value() == options.texts.empty()) {
        fail(
            kWrongUse, "%s",
            options.prompt ? "--prompt needs choices: texts as arguments" : "texts are choices: --prompt says of what");
    }
    for (const std::string_view text : options.texts) {
        if (options.prompt && text.find('\t') != std::string_view::npos) {
            fail(kWrongUse, "choice %s has a TAB, which stands between choices", quoted(text).c_str());
        }
    }
}

// The choice of this number, of those behind a prompt.
std::string_view choice_of(const Text& text, std::uint32_t index) {
    std::string_view rest = text.second;
    for (; index != 0; --index) {
        rest.remove_prefix(rest.find('\t') + 1);
    }
    return rest.substr(0, rest.find('\t'));
}

std::string as_text(const Options& options, const Text& text, const Answer& answer) {
    const std::vector<std::uint32_t> order = best_first(answer.logits, answer.choice_count);
    std::string out;
    for (std::uint32_t i = 0; i < std::min(options.top.value_or(kTop), answer.choice_count); ++i) {
        out += i == 0 ? "" : "\t";
        append_printable(out, choice_of(text, order[i]));
        out += format("\t%.4f", static_cast<double>(answer.values[order[i]]));
    }
    return out + '\n';
}

std::string described() {
    return {};
}

// The number of a row's right choice, from 0.
std::uint32_t read_choice(const Options& options, const Dataset& dataset, std::size_t row) {
    const std::string& choices = dataset.examples[row].second;
    const auto count = static_cast<std::uint64_t>(std::count(choices.begin(), choices.end(), '\t')) + 1;
    const std::uint64_t first = options.label_values == "1" ? 1 : 0;
    const std::optional<std::uint64_t> value = parse_number(dataset.values[row]);
    if (!value || *value < first || *value >= first + count) {
        refuse_value(dataset, row,
                     format("expected a number from %d to %d, got ", static_cast<int>(first),
                            static_cast<int>(first + count - 1)) +
                         quoted(dataset.values[row]));
    }
    return static_cast<std::uint32_t>(*value - first);
}

void evaluate_choices(const Options& options) {
    const Dataset dataset = read_dataset(options);
    std::vector<std::uint32_t> truths;
    for (std::size_t row = 0; row < dataset.examples.size(); ++row) {
        truths.push_back(read_choice(options, dataset, row));
    }
    std::uint64_t right = 0;
    TableRun::Totals totals = {};
    {
        TableRun run(dataset);
        for (std::size_t row = 0; row < dataset.examples.size(); ++row) {
            right += run.answer(row, true).label == truths[row] ? 1U : 0U;
            run.done(row);
        }
        totals = run.totals();
    }
    ScoreReport report(options.json);
    report.share("accuracy", ratio(right, truths.size()));
    totals.add_to(report);
    write_output(report.done());
}

}  // namespace

extern const TaskFace kChooseFace;
const TaskFace kChooseFace = {
    "chooses",
    {&kTopOptions, &kTableOptions, &kChoiceOptions},
    check,
    kInput,
    kOutput,
    {kEvaluation, kHeaderHelp},
    described,
    "prompt or choice cut, it has more than %u tokens\n",
    as_text,
    append_choices,
    evaluate_choices,
    RowTexts::choices,
    false,
    nullptr,
    " [OPTION…] --prompt P CHOICE… | --pairs",
};

}  // namespace etch::cli
