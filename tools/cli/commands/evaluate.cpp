// SPDX-License-Identifier: Apache-2.0
// --evaluate: the model's answers against a table that says what they should be.
#include "../model.hpp"
#include "../task_face.hpp"
#include "commands.hpp"

namespace etch::cli {

void evaluate_table(const Options& options) {
    kModel.face.evaluate(options);
}

}  // namespace etch::cli
