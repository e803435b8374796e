// SPDX-License-Identifier: Apache-2.0
// Which of the labels that a user gives hold of a text, in JSON.
#include <string>
#include <vector>

#include "../answers.hpp"
#include "../task_face.hpp"
#include "../text/json.hpp"

namespace etch::cli {

void append_zero_shot(std::string& out, const Options& options, const Text&, const Answer& answer) {
    if (options.logits) {
        append_key(out, "probability");
        append_json(out, answer.values[0]);
        append_floats(out, "logits", answer, answer.logits);
        return;
    }
    const std::vector<std::uint32_t> order = best_first(answer.values, answer.choice_count);
    append_key(out, "labels");
    append_json_array(out, answer.choice_count,
                      [&](std::uint32_t i) { append_json(out, options.wanted.labels[order[i]]); });
    append_key(out, "scores");
    append_json_array(out, answer.choice_count, [&](std::uint32_t i) { append_json(out, answer.values[order[i]]); });
}

}  // namespace etch::cli
