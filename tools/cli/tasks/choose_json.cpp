// SPDX-License-Identifier: Apache-2.0
// Which of several choices goes with a prompt, in JSON.
#include <string>

#include "../answers.hpp"
#include "../task_face.hpp"
#include "../text/json.hpp"

namespace etch::cli {

void append_choices(std::string& out, const Options&, const Text&, const Answer& answer) {
    append_key(out, "choice");
    append_json(out, std::int64_t{answer.label});
    append_key(out, "probabilities");
    append_json_array(out, answer.choice_count, [&](std::uint32_t i) { append_json(out, answer.values[i]); });
    append_key(out, "scores");
    append_json_array(out, answer.choice_count, [&](std::uint32_t i) { append_json(out, answer.logits[i]); });
}

}  // namespace etch::cli
