// SPDX-License-Identifier: Apache-2.0
// One label a row: accuracy, precision, recall, F1, confusion matrix.
#include <cstdio>

#include "dataset.hpp"
#include "evaluations.hpp"
#include "failure.hpp"
#include "label_values.hpp"
#include "output.hpp"
#include "score_tables.hpp"
#include "table_run.hpp"

namespace etch::cli {
namespace {

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
    Scores scores(kModel.width);
    std::string summary;
    {
        TableRun run(dataset);
        for (std::size_t row = 0; row < dataset.examples.size(); ++row) {
            scores.add(truths[row], run.answer(row, options.pair_lines).label);
            run.done(row);
        }
        summary = run.summary();
    }
    if (options.json) {
        write_output(confusion_json(scores));
        return;
    }
    write_output(percent_line("accuracy", scores.accuracy()));
    write_output(summary);
    if (options.confusion) {
        write_output(confusion_matrix(scores));
        return;
    }
    std::vector<LabelMeasures> measures;
    for (std::uint32_t label = 0; label < kModel.width; ++label) {
        measures.push_back(scores.measures(label));
    }
    write_output(class_table(measures, scores.rows()));
    write_output(confusion_tables(scores));
}

}  // namespace etch::cli
