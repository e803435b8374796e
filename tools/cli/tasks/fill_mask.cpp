// SPDX-License-Identifier: Apache-2.0
// What may stand where masks are. Evaluated against the pieces of the label column: how often the right one is the
// likeliest, and how often among the five likeliest. A mask that was cut off counts as wrong.
#include <algorithm>

#include "../answers.hpp"
#include "../failure.hpp"
#include "../output.hpp"
#include "../scores/label_measures.hpp"
#include "../scores/score_report.hpp"
#include "../tables/dataset.hpp"
#include "../tables/table_run.hpp"
#include "../tables/value_list.hpp"
#include "../task_face.hpp"
#include "../task_parts.hpp"
#include "../text/format.hpp"
#include "../text/json.hpp"
#include "../text/utf8.hpp"

namespace etch::cli {
namespace {

constexpr const char* kOutput = R"(
                       piece TAB probability, best first, the next pieces behind it; a line for each mask
  --top K              so many pieces (default 5)
  --json               {"masks": [[{"token", "id", "probability"}]], "tokens", "truncated"}
  --score              how likely the text is: each token is masked in turn, the logarithms of their probabilities are
                       added up; with --json {"score", "scored", "tokens", "truncated"}, "scored" is of how many tokens
)";

constexpr const char* kEvaluation = R"(
--evaluate FILE.csv|FILE.tsv
  how often the right piece is the likeliest, and among the five likeliest, over the masks of the rows of FILE. csv has
  RFC 4180 quotes, tsv has none. FILE has at most 256 MiB and 1,000 columns.
  --json               {"top_1_accuracy", "top_5_accuracy", "masks", "rows", "mean_tokens", "truncated"}
  --label-column C     number from 1, or name (default 1): the pieces of a row's masks, separated by ; with or without
                       the mark of a word's beginning
)";

const Option kOptions[] = {
    {"--score", 0, kTexts, kNone, [](Options& o, Values) { o.wanted.score = true; }},
};
const OptionGroup kScoreOptions(kOptions);

void check(const Options& options) {
    if (options.wanted.score && (options.top || options.tokens)) {
        refuse_together("--score", options.top ? "--top" : "--tokens");
    }
    if (options.wanted.score && (options.pair_lines || !options.pairs.empty())) {
        refuse_together("--score", options.pair_lines ? "--pairs" : "--pair");
    }
    if (options.top && *options.top > kModel.width) {
        fail(kWrongUse, "--top: model %s has %u candidates of a mask", quoted(kModel.name).c_str(),
             static_cast<unsigned>(kModel.width));
    }
}

// A line a mask; an empty one where the text has none.
std::string as_text(const Options& options, const Text&, const Answer& answer) {
    if (answer.score != nullptr) {
        return format("%.4f\n", static_cast<double>(answer.score->log_probability));
    }
    std::string out;
    for (std::uint32_t mask = 0; mask < answer.mask_count; ++mask) {
        const Candidate* const row = answer.candidates + std::size_t{mask} * width_of(answer);
        out += mask == 0 ? "" : "\n";
        for (std::uint32_t i = 0; i < candidates_shown(options, answer); ++i) {
            out += i == 0 ? "" : "\t";
            append_printable(out, piece(row[i].id));
            out += format("\t%.4f", static_cast<double>(row[i].probability));
        }
    }
    return out + '\n';
}

std::string described() {
    std::string out = ", a mask is written ";
    append_printable(out, label(0));
    return out + format(", %u candidates of each", static_cast<unsigned>(kModel.width));
}

constexpr std::uint32_t kJudged = 5;

// As it is, or without the mark of a word's beginning: a space, or U+2581.
bool is_called(std::string_view piece, std::string_view name) {
    if (piece == name) {
        return true;
    }
    for (const std::string_view mark : {std::string_view(" "), std::string_view("\xE2\x96\x81")}) {
        if (piece.substr(0, mark.size()) == mark) {
            return piece.size() > mark.size() && piece.substr(mark.size()) == name;
        }
    }
    return false;
}

// The place of the right piece among the first candidates of a mask, kJudged where it is none of them.
std::uint32_t place_of(const Answer& answer, std::size_t mask, std::string_view name) {
    const Candidate* const row = answer.candidates + mask * output_width();
    const std::uint32_t judged = std::min(kJudged, output_width());
    for (std::uint32_t i = 0; i < judged; ++i) {
        if (is_called(piece(row[i].id), name)) {
            return i;
        }
    }
    return kJudged;
}

void evaluate_masks(const Options& options) {
    const Dataset dataset = read_dataset(options);
    std::uint64_t masks = 0;
    std::uint64_t first = 0;
    std::uint64_t among = 0;
    TableRun::Totals totals = {};
    {
        TableRun run(dataset);
        for (std::size_t row = 0; row < dataset.examples.size(); ++row) {
            const std::vector<std::string_view> names = split_value_list(dataset.values[row]);
            const Answer answer = run.answer(row, options.pair_lines);
            if (names.size() < answer.mask_count || (!answer.truncated && names.size() != answer.mask_count)) {
                refuse_value(dataset, row,
                             format("the text has %u masks, the label %zu pieces, separated by ;",
                                    static_cast<unsigned>(answer.mask_count), names.size()));
            }
            for (std::size_t i = 0; i < answer.mask_count; ++i) {
                const std::uint32_t place = place_of(answer, i, names[i]);
                first += place == 0 ? 1U : 0U;
                among += place < kJudged ? 1U : 0U;
            }
            masks += names.size();
            run.done(row);
        }
        totals = run.totals();
    }
    ScoreReport report(options.json);
    report.share("top-1 accuracy", ratio(first, masks));
    report.share("top-5 accuracy", ratio(among, masks));
    report.text(format("masks: %llu\n", static_cast<unsigned long long>(masks)));
    report.field("masks", masks);
    totals.add_to(report);
    write_output(report.done());
}

}  // namespace

extern const TaskFace kFillMaskFace;
const TaskFace kFillMaskFace = {
    "fills masks",  {&kPairOptions, &kTopOptions, &kTableOptions, &kScoreOptions},
    check,          kPairHelp,
    kOutput,        {kEvaluation, kTextColumnsHelp, kHeaderHelp},
    described,      kTextCut,
    as_text,        append_masks,
    evaluate_masks, RowTexts::joined,
};

}  // namespace etch::cli
