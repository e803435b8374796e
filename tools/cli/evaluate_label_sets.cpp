// SPDX-License-Identifier: Apache-2.0
// Any number of labels a row: exact match, micro and macro F1, precision, recall and F1 of each label.
#include <cstdio>

#include "answers.hpp"
#include "dataset.hpp"
#include "evaluations.hpp"
#include "failure.hpp"
#include "label_set_scores.hpp"
#include "label_sets.hpp"
#include "output.hpp"
#include "score_tables.hpp"
#include "table_run.hpp"

namespace etch::cli {
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

}  // namespace

void evaluate_label_sets(const Options& options) {
    const Dataset dataset = read_dataset(options);
    const std::vector<std::vector<std::uint32_t>> truths = read_label_sets(options, dataset);
    LabelSetScores scores(kModel.width);
    std::string summary;
    {
        TableRun run(dataset);
        for (std::size_t row = 0; row < dataset.examples.size(); ++row) {
            scores.add(truths[row], present_labels(run.answer(row, options.pair_lines)));
            run.done(row);
        }
        summary = run.summary();
    }
    std::vector<LabelMeasures> measures;
    for (std::uint32_t label = 0; label < kModel.width; ++label) {
        measures.push_back(scores.measures(label));
    }
    write_output(percent_line("exact match", scores.exact_match()));
    write_output(percent_line("micro F1", scores.micro_f1()));
    write_output(percent_line("macro F1", scores.macro_f1()));
    write_output(summary);
    write_output(class_table(measures, scores.rows()));
}

}  // namespace etch::cli
