// SPDX-License-Identifier: Apache-2.0
// --evaluate: the model's answers against a table that says what they should be.
#include "commands.hpp"
#include "evaluations.hpp"
#include "model.hpp"

namespace etch::cli {

void evaluate_table(const Options& options) {
    const Dataset dataset = read_dataset(options);
    switch (kModel.task) {
        case Task::single_label:
            evaluate_labels(options, dataset);
            break;
        case Task::multi_label:
            evaluate_label_sets(options, dataset);
            break;
        case Task::regression:
            evaluate_values(options, dataset);
            break;
        case Task::embedding:
            evaluate_similarity(dataset);
            break;
    }
}

}  // namespace etch::cli
