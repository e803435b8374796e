// SPDX-License-Identifier: Apache-2.0
// What generative models are asked of a table: the texts that should be written are its label column.
#include "../output.hpp"
#include "../scores/label_measures.hpp"
#include "../scores/score_tables.hpp"
#include "../scores/translation_scores.hpp"
#include "../tables/dataset.hpp"
#include "../tables/table_run.hpp"
#include "../task_parts.hpp"
#include "../text/format.hpp"

namespace etch::cli {

void evaluate_writing(const Options& options) {
    const Dataset dataset = read_dataset(options);
    TranslationScores scores;
    std::string summary;
    {
        TableRun run(dataset);
        for (std::size_t row = 0; row < dataset.examples.size(); ++row) {
            scores.add(run.answer(row, false).written[0].text, dataset.values[row]);
            run.done(row);
        }
        summary = run.summary();
    }
    const auto rows = static_cast<unsigned long long>(scores.rows());
    if (options.json) {
        const auto same = static_cast<unsigned long long>(scores.same());
        write_output(format("{\"rows\": %llu, \"bleu\": %.4f, \"chrf\": %.4f, \"exact\": %llu}\n", rows, scores.bleu(),
                            scores.chrf(), same));
        return;
    }
    write_output(percent_line("exact match", ratio(scores.same(), scores.rows())));
    write_output(format("BLEU: %.2f\nchrF: %.2f\n", scores.bleu(), scores.chrf()));
    write_output(summary);
}

}  // namespace etch::cli
