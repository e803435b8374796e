// SPDX-License-Identifier: Apache-2.0
// The vector of a text. Evaluated: the cosine of each row's two texts against the scores of the label column, Pearson
// and Spearman.
#include "../answers.hpp"
#include "../compare_texts.hpp"
#include "../dataset.hpp"
#include "../failure.hpp"
#include "../format.hpp"
#include "../number.hpp"
#include "../output.hpp"
#include "../score_tables.hpp"
#include "../table_run.hpp"
#include "../task_face.hpp"
#include "../task_parts.hpp"

namespace etch::cli {
namespace {

constexpr const char* kOutput = R"(
                       the embedding's components, a space between
  --json               {"embedding", "tokens", "truncated"}
)";

constexpr const char* kSimilarity = R"(
--similarity A B       the cosine of the two texts' embeddings; may be repeated
                       with --json {"similarity", "tokens", "truncated"}, the last two for each text

)";

constexpr const char* kEvaluation = R"(
--evaluate FILE.csv|FILE.tsv|FILE.jsonl
  Pearson's and Spearman's correlation of the cosine of a row's two texts with its score. csv has RFC 4180 quotes, tsv
  has none, jsonl has an object a line, of strings and numbers. FILE has at most 256 MiB and 1,000 columns.
  --label-column C     number from 1, or name, of the column with the scores (default 1)
)";

const Option kOptions[] = {
    {"--similarity", 2, kChoosesMode, Mode::similarity,
     [](Options& o, Values v) {
         o.compared.push_back({v[0], v[1]});
     }},
};
const OptionGroup kSimilarityOptions(kOptions);

void check(const Options& options) {
    if (options.pair_lines && options.mode == Mode::evaluate) {
        fail(kWrongUse, "--pairs does not go with --evaluate here: the two texts of a row are embedded one by one");
    }
}

std::string as_text(const Options&, const Text&, const Answer& answer) {
    return values_as_text(answer);
}

std::string described() {
    return format(", embeddings of %u components", static_cast<unsigned>(kModel.width));
}

std::vector<double> read_scores(const Dataset& dataset) {
    std::vector<double> scores;
    for (std::size_t row = 0; row < dataset.examples.size(); ++row) {
        const std::optional<double> score = parse_decimal(dataset.values[row]);
        if (!score) {
            refuse_value(dataset, row, "expected a score, which is a number, got " + quoted(dataset.values[row]));
        }
        scores.push_back(*score);
    }
    return scores;
}

void evaluate_similarity(const Options& options) {
    const Dataset dataset = read_dataset(options);
    const std::vector<double> scores = read_scores(dataset);
    std::vector<double> cosines;
    std::string summary;
    {
        TableRun run(dataset);
        for (std::size_t row = 0; row < dataset.examples.size(); ++row) {
            const Example& example = dataset.examples[row];
            const Similarity found = compare(example.first, example.second, format("row %zu", row + 1));
            run.count(found.tokens[0], found.truncated[0]);
            run.count(found.tokens[1], found.truncated[1]);
            run.done(row);
            cosines.push_back(found.cosine);
        }
        summary = run.summary();
    }
    write_output(correlation_lines(scores, cosines));
    write_output(summary);
}

}  // namespace

extern const TaskFace kEmbedFace;
const TaskFace kEmbedFace = {
    "embeds texts",
    {&kPairOptions, &kTableOptions, &kSimilarityOptions},
    check,
    kPairHelp,
    kOutput,
    {kSimilarity, kEvaluation, kTwoTextColumnsHelp, kHeaderHelp},
    described,
    kTextCut,
    as_text,
    append_embedding,
    evaluate_similarity,
    RowTexts::two,
};

}  // namespace etch::cli
