// SPDX-License-Identifier: Apache-2.0
// --evaluate of a model that compares two texts.
#include <string>
#include <vector>

#include "../failure.hpp"
#include "../output.hpp"
#include "../scores/score_tables.hpp"
#include "../tables/dataset.hpp"
#include "../tables/table_run.hpp"
#include "../task_face.hpp"
#include "../text/format.hpp"
#include "../text/number.hpp"
#include "compare_texts.hpp"

namespace etch::cli {
namespace {

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

}  // namespace

void evaluate_similarity(const Options& options) {
    const Dataset dataset = read_dataset(options);
    const std::vector<double> scores = read_scores(dataset);
    std::vector<double> found_ones;
    TableRun::Totals totals = {};
    {
        TableRun run(dataset);
        for (std::size_t row = 0; row < dataset.examples.size(); ++row) {
            const Example& example = dataset.examples[row];
            const Similarity found = kModel.face.compare(example.first, example.second, format("row %zu", row + 1));
            run.count(found.tokens[0], found.truncated[0]);
            run.count(found.tokens[1], found.truncated[1]);
            run.done(row);
            found_ones.push_back(found.value);
        }
        totals = run.totals();
    }
    ScoreReport report(options.json);
    report_correlation(report, scores, found_ones);
    totals.add_to(report);
    write_output(report.done());
}

}  // namespace etch::cli
