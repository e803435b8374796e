// SPDX-License-Identifier: Apache-2.0
// What generative models are asked of a table: the texts that should be written are its label column.
#include "../output.hpp"
#include "../scores/label_measures.hpp"
#include "../scores/score_report.hpp"
#include "../scores/translation_scores.hpp"
#include "../tables/dataset.hpp"
#include "../tables/table_run.hpp"
#include "../task_parts.hpp"
#include "../text/format.hpp"

namespace etch::cli {

void evaluate_writing(const Options& options) {
    const Dataset dataset = read_dataset(options);
    TranslationScores scores;
    TableRun::Totals totals = {};
    {
        TableRun run(dataset);
        for (std::size_t row = 0; row < dataset.examples.size(); ++row) {
            scores.add(run.answer(row, false).written[0].text, dataset.values[row]);
            run.done(row);
        }
        totals = run.totals();
    }
    ScoreReport report(options.json);
    report.share("exact match", ratio(scores.same(), scores.rows()));
    report.text(format("BLEU: %.2f\nchrF: %.2f\n", scores.bleu(), scores.chrf()));
    report.field("exact", scores.same());
    report.field("bleu", std::optional(scores.bleu()));
    report.field("chrf", std::optional(scores.chrf()));
    totals.add_to(report);
    write_output(report.done());
}

}  // namespace etch::cli
